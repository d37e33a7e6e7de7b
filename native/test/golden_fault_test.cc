// What is wrong with a golden file is named by the part that is wrong.
#include <doctest/doctest.h>

#include "monitor/base/zstd.h"
#include "test/support/golden_files.h"

using namespace shinken;
using namespace shinken::test;
using golden_file::Header;

namespace {

bool within(u64 at, const golden_file::Section& section) {
  return at >= section.at && at < section.end();
}

/// What a full inspection must say of a file with a changed bit there.
ErrorKind expected_fault(const Header& h, u64 at) {
  if (at < 8) return ErrorKind::kGoldenMagic;
  if (at < 12) return ErrorKind::kGoldenVersion;
  if (within(at, h.meta)) return ErrorKind::kGoldenState;
  if (within(at, h.index)) return ErrorKind::kGoldenIndex;
  if (within(at, h.chunks)) return ErrorKind::kGoldenChunk;
  if (within(at, h.code)) return ErrorKind::kGoldenCode;
  if (within(at, h.pages)) return ErrorKind::kGoldenPage;
  return ErrorKind::kGoldenHeader;  // the header itself, or what stands between two sections
}

void check_every_bit_place(const SavedGolden& saved, u64 to) {
  for (u64 at = 0; at < to; ++at) {
    const ErrorKind expected = expected_fault(saved.header, at);
    const std::string path = saved.altered(at);
    const bool code = expected == ErrorKind::kGoldenCode;
    if (fault(path) != expected || refusal(path) != (code ? ErrorKind::kClosed : expected)) {
      FAIL_CHECK("byte " << at << ": " << error_name(fault(path)) << ", not " << error_name(expected));
    }
  }
}

}  // namespace

TEST_CASE("a changed bit in any byte before the pages, and in each page, is refused by its section's name") {
  SavedGolden saved;
  REQUIRE(saved.header.code.bytes > 0);
  check_every_bit_place(saved, saved.header.pages.at);
  for (u64 at = saved.header.pages.at; at < saved.bytes.size(); at += kPageSize) {
    CHECK(refusal(saved.altered(at)) == ErrorKind::kGoldenPage);
    CHECK(fault(saved.altered(at + kPageSize - 1)) == ErrorKind::kGoldenPage);
  }
}

TEST_CASE("a changed bit in any byte of a compressed file is refused") {
  if (!zstd::available()) return;
  SavedGolden saved(GoldenLayout::kCompressed);
  check_every_bit_place(saved, saved.header.pages.at);
  for (u64 at = saved.header.pages.at; at < saved.bytes.size(); ++at) {
    // A frame may have bits that mean nothing; then the pages are the same.
    const ErrorKind kind = refusal(saved.altered(at));
    const bool named = kind == ErrorKind::kGoldenChunk || kind == ErrorKind::kGoldenPage;
    if (!named && kind != ErrorKind::kClosed) FAIL_CHECK("byte " << at << ": " << error_name(kind));
    if (kind == ErrorKind::kClosed) CHECK(fault(saved.altered(at)) == ErrorKind::kClosed);
  }
}

TEST_CASE("a file cut anywhere is refused as truncated") {
  SavedGolden saved;
  const Header& h = saved.header;
  for (u64 length : {u64{0}, u64{7}, u64{100}, u64{128}, u64{255}, u64{256}, h.index.at, h.code.at,
                     h.code.end(), h.pages.at, h.pages.at + 5, u64{saved.bytes.size() - 1}}) {
    CAPTURE(length);
    CHECK(refusal(saved.cut(length)) == ErrorKind::kGoldenTruncated);
    CHECK(fault(saved.cut(length)) == ErrorKind::kGoldenTruncated);
  }
  std::vector<u8> longer = saved.bytes;
  longer.push_back(0);
  CHECK(refusal(saved.dir.write("longer", longer)) == ErrorKind::kGoldenHeader);
}

TEST_CASE("a header that lies under a valid seal is refused, too") {
  SavedGolden saved;
  const auto lie = [&](auto change) { return refusal(saved.resealed(change)); };
  CHECK(lie([](Header& h) { h.machine_abi += 1; }) == ErrorKind::kGoldenAbi);
  CHECK(lie([](Header& h) { h.state_digest.lo ^= 1; }) == ErrorKind::kGoldenDigest);
  CHECK(lie([](Header& h) { h.memory_pages += 1; }) == ErrorKind::kGoldenDigest);
  for (u64 Header::* field :
       {&Header::file_bytes, &Header::memory_pages, &Header::stored_pages, &Header::bodies}) {
    for (const u64 value : {u64{0}, u64{1}, u64{1} << 39, ~u64{0}}) {
      CAPTURE(value);
      const ErrorKind kind = lie([&](Header& h) { h.*field = value; });
      CHECK((kind == ErrorKind::kGoldenHeader || kind == ErrorKind::kGoldenTruncated));
    }
  }
  for (golden_file::Section Header::* section :
       {&Header::meta, &Header::index, &Header::chunks, &Header::code, &Header::pages}) {
    for (const u64 by : {u64{1}, u64{8}, u64{4096}, ~u64{0}, ~u64{7}, u64{1} << 63}) {
      CAPTURE(by);
      CHECK(lie([&](Header& h) { (h.*section).at += by; }) == ErrorKind::kGoldenHeader);
      // A length that the next section's alignment hides is one that the section's own checksum finds.
      const ErrorKind kind = fault(saved.resealed([&](Header& h) { (h.*section).bytes += by; }));
      const bool own = (section == &Header::meta && kind == ErrorKind::kGoldenState) ||
                       (section == &Header::code && kind == ErrorKind::kGoldenCode);
      CHECK((own || kind == ErrorKind::kGoldenHeader));
    }
  }
  CHECK(lie([](Header& h) { h.pages.hash.hi = 1; }) == ErrorKind::kGoldenHeader);
  CHECK(lie([](Header& h) { h.layout = GoldenLayout::kCompressed; }) == ErrorKind::kGoldenHeader);
  CHECK(lie([](Header& h) { h.layout = static_cast<GoldenLayout>(2); }) == ErrorKind::kGoldenHeader);
  for (const u32 pages : {1u, golden_file::kChunkPages, ~0u})
    CHECK(lie([&](Header& h) { h.chunk_pages = pages; }) == ErrorKind::kGoldenHeader);
}

TEST_CASE("an index that lies under valid checksums is refused, too") {
  SavedGolden saved;
  const auto lie = [&](u64 at, u32 value) {
    std::vector<u8> index = saved.content(saved.header.index);
    store_le(&index[at], value);
    return refusal(saved.replaced(&Header::index, index));
  };
  REQUIRE(saved.header.stored_pages > 1);
  CHECK(lie(0, ~0u) == ErrorKind::kGoldenIndex);                                                // beyond RAM
  CHECK(lie(8, load_le<u32>(&saved.bytes[saved.header.index.at])) == ErrorKind::kGoldenIndex);  // twice
  CHECK(lie(4, 1) == ErrorKind::kGoldenIndex);   // a body before its turn
  CHECK(lie(12, 0) == ErrorKind::kGoldenIndex);  // one that no page has
  CHECK(lie(12, ~0u) == ErrorKind::kGoldenIndex);
  // Another hash for a body: the index check believes it, the sum does not.
  CHECK(lie(saved.header.stored_pages * 8, 1) == ErrorKind::kGoldenPage);
}

TEST_CASE("a table of chunks that lies under valid checksums is refused, too") {
  if (!zstd::available()) return;
  SavedGolden saved(GoldenLayout::kCompressed);
  for (const u64 end : {u64{0}, saved.header.pages.bytes - 1, saved.header.pages.bytes + 1, ~u64{0}}) {
    std::vector<u8> chunks = saved.content(saved.header.chunks);
    store_le(&chunks[chunks.size() - 8], end);
    CAPTURE(end);
    CHECK(refusal(saved.replaced(&Header::chunks, chunks)) == ErrorKind::kGoldenChunk);
  }
}
