#include <algorithm>
#include <cstring>

#include "monitor/base/bytes.h"
#include "monitor/machine/abi.h"
#include "monitor/snapshot/golden_file.h"

namespace shinken::golden_file {
namespace {

[[noreturn]] void refuse(ErrorKind kind, const std::string& why) {
  throw MonitorError(kind, why);
}

Digest get_digest(ByteReader& from) {
  const u64 lo = from.get<u64>();
  return {lo, from.get<u64>()};
}

void put_digest(ByteWriter& to, const Digest& digest) {
  to.put<u64>(digest.lo);
  to.put<u64>(digest.hi);
}

Header read_fields_1(ByteReader& from) {
  Header h;
  h.state_digest = get_digest(from);
  u64 index_at = 0, pages_at = 0;
  for (u64* value : {&h.file_bytes, &h.memory_pages, &h.stored_pages, &h.meta.bytes, &index_at, &pages_at}) {
    *value = from.get<u64>();
  }
  h.bodies = h.stored_pages;
  h.meta.at = kHeaderBytes1;
  h.meta.hash = get_digest(from);
  // Sizes that are beyond all bounds are refused before anything is made of these products.
  h.index = {index_at, h.stored_pages * kIndexEntryBytes1, get_digest(from)};
  h.chunks.at = h.code.at = h.index.end();
  h.pages = {pages_at, h.stored_pages * kPageSize, {}};
  return h;
}

Header read_fields_2(ByteReader& from, bool* known) {
  Header h;
  h.state_digest = get_digest(from);
  for (u64* value : {&h.file_bytes, &h.memory_pages, &h.stored_pages, &h.bodies}) *value = from.get<u64>();
  const u32 layout = from.get<u32>();
  h.layout = static_cast<GoldenLayout>(layout);
  h.chunk_pages = from.get<u32>();
  *known = layout <= 1 && from.get<u64>() == 0;
  for (Section* section : {&h.meta, &h.index, &h.chunks, &h.code, &h.pages}) {
    section->at = from.get<u64>();
    section->bytes = from.get<u64>();
    section->hash = get_digest(from);
  }
  return h;
}

/// Alike up to the sections; it has no code, and its golden's digest instead.
Header read_delta_fields(ByteReader& from, bool* known) {
  Header h;
  h.kind = FileKind::kDelta;
  h.state_digest = get_digest(from);
  for (u64* value : {&h.file_bytes, &h.memory_pages, &h.stored_pages, &h.bodies}) *value = from.get<u64>();
  const u32 layout = from.get<u32>();
  h.layout = static_cast<GoldenLayout>(layout);
  h.chunk_pages = from.get<u32>();
  *known = layout <= 1 && from.get<u64>() == 0;
  for (Section* section : {&h.meta, &h.index, &h.chunks, &h.pages}) {
    section->at = from.get<u64>();
    section->bytes = from.get<u64>();
    section->hash = get_digest(from);
  }
  h.code.at = h.chunks.end();
  h.stands_on = get_digest(from);
  *known = *known && get_digest(from) == Digest{};
  return h;
}

bool sane_counts(const Header& h) {
  return h.file_bytes <= kMaxFileBytes && h.memory_pages >= kMinMemoryMiB << 20 >> kPageShift &&
         h.memory_pages <= kMaxMemoryMiB << 20 >> kPageShift && h.stored_pages <= h.memory_pages &&
         h.bodies <= h.stored_pages && (h.bodies == 0) == (h.stored_pages == 0) &&
         h.meta.bytes <= kMaxMetaBytes && h.code.bytes <= kMaxCodeBytes;
}

bool sane_1(const Header& h) {
  return h.index.at % 8 == 0 && h.index.at <= h.file_bytes && h.index.at >= h.meta.end() &&
         h.pages.at % kPageSize == 0 && h.pages.at <= h.file_bytes && h.pages.at >= h.index.end() &&
         h.pages.end() == h.file_bytes;
}

/// One after the other without gaps, so that there is one way only to write a golden, or a delta.
bool sane_2(const Header& h) {
  const bool mapped = h.layout == GoldenLayout::kMapped;
  if (mapped ? h.chunk_pages != 0 : h.chunk_pages == 0 || h.chunk_pages > kMaxChunkPages) return false;
  return h.meta.at == kHeaderBytes && h.index.at == align_up(h.meta.end(), 8) &&
         h.index.bytes == h.stored_pages * kIndexEntryBytes + h.bodies * kBodyHashBytes &&
         h.chunks.at == h.index.end() && h.chunks.bytes == h.chunk_count() * kChunkEntryBytes &&
         h.code.at == h.chunks.end() && h.pages.at == align_up(h.code.end(), h.page_alignment()) &&
         h.pages.bytes <= h.file_bytes && (!mapped || h.pages.bytes == h.bodies * kPageSize) &&
         h.pages.hash == Digest{} && h.pages.end() == h.file_bytes;
}

}  // namespace

Header read_header(std::span<const u8> file, FileKind kind) {
  const bool delta = kind == FileKind::kDelta;
  if (file.size() < sizeof kMagic) refuse(ErrorKind::kGoldenTruncated, "shorter than its header");
  if (std::memcmp(file.data(), delta ? kDeltaMagic : kMagic, sizeof kMagic) != 0)
    refuse(ErrorKind::kGoldenMagic, delta ? "not a delta file" : "not a golden file");
  if (file.size() < kHeaderBytes1) refuse(ErrorKind::kGoldenTruncated, "shorter than its header");
  const u32 version = load_le<u32>(&file[8]);
  // Before the seal: another version may seal otherwise.
  if (delta ? version != kDeltaVersion : version != 1 && version != kVersion) {
    refuse(ErrorKind::kGoldenVersion,
           "format version " + std::to_string(version) + ", this monitor reads " + (delta ? "1" : "1 and 2"));
  }
  const bool first = !delta && version == 1;
  const u64 length = first ? kHeaderBytes1 : kHeaderBytes;
  if (file.size() < length) refuse(ErrorKind::kGoldenTruncated, "shorter than its header");
  ByteReader seal(file.subspan(length - kSealBytes, kSealBytes));
  if (get_digest(seal) != hash_bytes(file.first(length - kSealBytes))) {
    refuse(ErrorKind::kGoldenHeader, "the header's checksum is wrong");
  }
  ByteReader from(file.subspan(12, length - 12));
  const u32 machine_abi = from.get<u32>();
  bool known = true;
  Header h = delta   ? read_delta_fields(from, &known)
             : first ? read_fields_1(from)
                     : read_fields_2(from, &known);
  h.version = version;
  h.machine_abi = machine_abi;
  if (!known || !sane_counts(h) || !(first ? sane_1(h) : sane_2(h))) {
    refuse(ErrorKind::kGoldenHeader, "the header's sizes contradict each other");
  }
  if (file.size() < h.file_bytes) {
    refuse(ErrorKind::kGoldenTruncated,
           std::to_string(file.size()) + " bytes of " + std::to_string(h.file_bytes));
  }
  if (file.size() > h.file_bytes) refuse(ErrorKind::kGoldenHeader, "longer than its header says");
  return h;
}

std::vector<u8> encode_header(const Header& h) {
  ByteWriter to;
  to.put_bytes(h.delta() ? kDeltaMagic : kMagic);
  to.put<u32>(h.delta() ? kDeltaVersion : kVersion);
  to.put<u32>(h.machine_abi);
  put_digest(to, h.state_digest);
  for (u64 value : {h.file_bytes, h.memory_pages, h.stored_pages, h.bodies}) to.put<u64>(value);
  to.put<u32>(static_cast<u32>(h.layout));
  to.put<u32>(h.chunk_pages);
  to.put<u64>(0);
  for (const Section* section : {&h.meta, &h.index, &h.chunks, &h.code, &h.pages}) {
    if (h.delta() && section == &h.code) continue;
    to.put<u64>(section->at);
    to.put<u64>(section->bytes);
    put_digest(to, section->hash);
  }
  if (h.delta()) put_digest(to, h.stands_on), put_digest(to, {});
  std::vector<u8> bytes = to.take();
  ByteWriter seal;
  put_digest(seal, hash_bytes(bytes));
  const std::vector<u8> tail = seal.take();
  bytes.insert(bytes.end(), tail.begin(), tail.end());
  return bytes;
}

}  // namespace shinken::golden_file
