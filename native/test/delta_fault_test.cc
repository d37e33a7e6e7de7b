// What is wrong with a delta file is named by the part that is wrong.
#include <doctest/doctest.h>

#include "monitor/base/zstd.h"
#include "monitor/snapshot/golden_impl.h"
#include "test/support/golden_files.h"

using namespace shinken;
using namespace shinken::test;
using golden_file::Header;

namespace {

bool within(u64 at, const golden_file::Section& section) {
  return at >= section.at && at < section.end();
}

ErrorKind expected_fault(const Header& h, u64 at) {
  if (at < 8) return ErrorKind::kGoldenMagic;
  if (at < 12) return ErrorKind::kGoldenVersion;
  if (within(at, h.meta)) return ErrorKind::kGoldenState;
  if (within(at, h.index)) return ErrorKind::kGoldenIndex;
  if (within(at, h.chunks)) return ErrorKind::kGoldenChunk;
  if (within(at, h.pages)) return ErrorKind::kGoldenPage;
  return ErrorKind::kGoldenHeader;
}

}  // namespace

TEST_CASE("a changed bit in any byte of a delta is refused by its section's name") {
  const SavedDelta saved;
  REQUIRE(saved.header.bodies > 0);
  for (u64 at = 0; at < saved.bytes.size(); ++at) {
    // Of the bodies, which each have a hash of their own, some places.
    if (within(at, saved.header.pages) && at % 61 != 0) continue;
    const ErrorKind kind = saved.refusal(saved.altered(at)), expected = expected_fault(saved.header, at);
    if (kind != expected)
      FAIL_CHECK("byte " << at << ": " << error_name(kind) << ", not " << error_name(expected));
  }
  CHECK(saved.refusal(saved.path) == ErrorKind::kClosed);
}

TEST_CASE("a changed bit in any byte of a compressed delta is refused, or means nothing") {
  if (!zstd::available()) return;
  const SavedDelta saved(true);
  for (u64 at = 0; at < saved.bytes.size(); ++at) {
    const std::string path = saved.altered(at);
    const ErrorKind kind = saved.refusal(path);
    if (!within(at, saved.header.pages)) {
      if (kind != expected_fault(saved.header, at)) FAIL_CHECK("byte " << at << ": " << error_name(kind));
    } else if (kind == ErrorKind::kClosed) {
      CHECK(load_delta(path, *saved.golden)->digest() == saved.digest);
    } else if (kind != ErrorKind::kGoldenChunk && kind != ErrorKind::kGoldenPage) {
      FAIL_CHECK("byte " << at << ": " << error_name(kind));
    }
  }
}

TEST_CASE("a delta cut anywhere is refused as truncated") {
  const SavedDelta saved;
  for (u64 length = 0; length < saved.bytes.size(); length += length < 300 ? 1 : 509) {
    CAPTURE(length);
    CHECK(saved.refusal(saved.cut(length)) == ErrorKind::kGoldenTruncated);
  }
  std::vector<u8> longer = saved.bytes;
  longer.push_back(0);
  CHECK(saved.refusal(saved.dir.write("longer", longer)) == ErrorKind::kGoldenHeader);
}

TEST_CASE("a delta's header that lies under a valid seal is refused, too") {
  const SavedDelta saved;
  const auto lie = [&](auto change) { return saved.refusal(saved.resealed(change)); };
  CHECK(lie([](Header& h) { h.machine_abi += 1; }) == ErrorKind::kGoldenAbi);
  CHECK(lie([](Header& h) { h.stands_on.hi ^= 1; }) == ErrorKind::kDeltaGolden);
  CHECK(lie([](Header& h) { h.state_digest.lo ^= 1; }) == ErrorKind::kGoldenDigest);
  CHECK(lie([](Header& h) { h.memory_pages += 1; }) == ErrorKind::kDeltaGolden);
  for (u64 Header::* field :
       {&Header::file_bytes, &Header::memory_pages, &Header::stored_pages, &Header::bodies}) {
    for (const u64 value : {u64{0}, u64{1} << 39, ~u64{0}}) {
      CAPTURE(value);
      const ErrorKind kind = lie([&](Header& h) { h.*field = value; });
      CHECK((kind == ErrorKind::kGoldenHeader || kind == ErrorKind::kGoldenTruncated));
    }
  }
  for (golden_file::Section Header::* section :
       {&Header::meta, &Header::index, &Header::chunks, &Header::pages}) {
    for (const u64 by : {u64{8}, u64{4096}, ~u64{7}, u64{1} << 63}) {
      CAPTURE(by);
      CHECK(lie([&](Header& h) { (h.*section).at += by; }) == ErrorKind::kGoldenHeader);
      const ErrorKind kind = lie([&](Header& h) { (h.*section).bytes += by; });
      CHECK((kind == ErrorKind::kGoldenHeader || kind == ErrorKind::kGoldenState));
    }
  }
  CHECK(lie([](Header& h) { h.pages.hash.hi = 1; }) == ErrorKind::kGoldenHeader);
  CHECK(lie([](Header& h) { h.layout = GoldenLayout::kCompressed; }) == ErrorKind::kGoldenHeader);
  CHECK(lie([](Header& h) { h.layout = static_cast<GoldenLayout>(2); }) == ErrorKind::kGoldenHeader);
  CHECK(lie([](Header& h) { h.chunk_pages = golden_file::kChunkPages; }) == ErrorKind::kGoldenHeader);
}

TEST_CASE("a delta's index and state that lie under valid checksums are refused, too") {
  const SavedDelta saved;
  const auto lie = [&](u64 at, u32 value) {
    std::vector<u8> index = saved.content(saved.header.index);
    store_le(&index[at], value);
    return saved.refusal(saved.replaced(&Header::index, index));
  };
  REQUIRE(saved.header.stored_pages > 1);
  CHECK(lie(0, ~0u) == ErrorKind::kGoldenIndex);
  CHECK(lie(8, load_le<u32>(&saved.bytes[saved.header.index.at])) == ErrorKind::kGoldenIndex);
  CHECK(lie(4, 1) == ErrorKind::kGoldenIndex);
  CHECK(lie(saved.header.stored_pages * 8, 1) == ErrorKind::kGoldenPage);
  std::vector<u8> meta = saved.content(saved.header.meta);
  meta[20] ^= 1;
  CHECK(saved.refusal(saved.replaced(&Header::meta, meta)) == ErrorKind::kGoldenDigest);
  // A state that means the same as another one's bytes, under right checksums and a digest of its own.
  meta = saved.content(saved.header.meta);
  const auto state = std::span(meta).subspan(4, load_le<u32>(meta.data()));
  auto& reset = state[state.size() - 9];
  REQUIRE(reset == 0);
  reset = 2;
  const auto loaded = load_delta(saved.path, *saved.golden);
  const Digest digest = machine_digest(state, saved.header.memory_pages, loaded->impl().memory_sum());
  std::vector<u8> file =
      saved.dir.read(std::filesystem::path(saved.replaced(&Header::meta, meta)).filename());
  Header header = saved.header;
  header.meta.hash = hash_bytes(meta);
  header.state_digest = digest;
  const std::vector<u8> front = golden_file::encode_header(header);
  std::copy(front.begin(), front.end(), file.begin());
  CHECK(saved.refusal(saved.dir.write("other-bytes", file)) == ErrorKind::kGoldenState);
}
