#include "monitor/snapshot/golden_reader.h"

#include <algorithm>
#include <cstring>

#include "monitor/base/bytes.h"
#include "monitor/base/zstd.h"
#include "monitor/devices/disk_file.h"
#include "monitor/machine/abi.h"

namespace shinken {
namespace {

using namespace golden_file;

[[noreturn]] void refuse(ErrorKind kind, const std::string& why) {
  throw MonitorError(kind, why);
}

bool all_zero(std::span<const u8> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](u8 byte) { return byte == 0; });
}

}  // namespace

GoldenReader::GoldenReader(const std::string& path, FileKind kind) : file_(MappedFile::open(path)) {
  header_ = read_header(bytes(), kind);
  const Header& h = header_;
  if (hash_bytes(section(h.meta)) != h.meta.hash) {
    refuse(ErrorKind::kGoldenState, "the device state was altered");
  }
  if (hash_bytes(section(h.index)) != h.index.hash) {
    refuse(ErrorKind::kGoldenIndex, "the page index was altered");
  }
  check_index();
  if (h.first_golden()) return;
  if (hash_bytes(section(h.chunks)) != h.chunks.hash) {
    refuse(ErrorKind::kGoldenChunk, "the table of chunks was altered");
  }
  check_chunks();
  for (const auto& [from, to] : {std::pair{h.meta.end(), h.index.at}, {h.code.end(), h.pages.at}}) {
    if (!all_zero(bytes().subspan(from, to - from))) {
      refuse(ErrorKind::kGoldenHeader, "something stands between two sections");
    }
  }
}

void GoldenReader::check_index() const {
  u64 next = 0, bodies = 0;
  for (u64 i = 0; i < header_.stored_pages; ++i) {
    const u64 page = number(i), body = body_of(i);
    if (page < next || page >= header_.memory_pages) {
      refuse(ErrorKind::kGoldenIndex, "page numbers out of order or beyond RAM");
    }
    if (body > bodies) refuse(ErrorKind::kGoldenIndex, "bodies are numbered as they first appear");
    if (body == bodies) ++bodies;
    next = page + 1;
  }
  if (bodies != header_.bodies) refuse(ErrorKind::kGoldenIndex, "a body belongs to no page");
}

void GoldenReader::check_chunks() const {
  u64 before = 0;
  for (u64 i = 0; i < header_.chunk_count(); ++i) {
    if (chunk_end(i) <= before) refuse(ErrorKind::kGoldenChunk, "chunks out of order");
    before = chunk_end(i);
  }
  if (header_.layout == GoldenLayout::kCompressed && before != header_.pages.bytes) {
    refuse(ErrorKind::kGoldenChunk, "the chunks do not fill their section");
  }
}

GoldenReader::Meta GoldenReader::meta() const {
  Meta meta;
  ByteReader from(section(header_.meta));
  meta.state = from.get_string(static_cast<u32>(kMaxMetaBytes));
  const u32 disks = from.get<u32>();
  if (disks > kMaxDisks) refuse(ErrorKind::kGoldenState, "more disks than a machine has");
  for (u32 i = 0; i < disks && from.ok(); ++i) {
    const u64 size = from.get<u64>();
    const std::vector<u8> identity = from.get_string(static_cast<u32>(kMaxDiskIdentity));
    meta.disks.push_back({size, {identity.begin(), identity.end()}});
  }
  const std::vector<u8> note = from.get_string(static_cast<u32>(kMaxNoteBytes));
  meta.note.assign(note.begin(), note.end());
  if (!from.ok() || !from.at_end()) refuse(ErrorKind::kGoldenState, "the device state is cut short");
  return meta;
}

const u8* GoldenReader::entry(u64 i) const {
  const u64 each = header_.first_golden() ? kIndexEntryBytes1 : kIndexEntryBytes;
  return bytes().data() + header_.index.at + i * each;
}

u64 GoldenReader::number(u64 i) const {
  return header_.first_golden() ? load_le<u64>(entry(i)) : load_le<u32>(entry(i));
}

u64 GoldenReader::body_of(u64 i) const {
  return header_.first_golden() ? i : load_le<u32>(entry(i) + 4);
}

Digest GoldenReader::body_hash(u64 body) const {
  const u8* at =
      header_.first_golden() ? entry(body) + 8 : entry(header_.stored_pages) + body * kBodyHashBytes;
  return {load_le<u64>(at), load_le<u64>(at + 8)};
}

u64 GoldenReader::chunk_end(u64 chunk) const {
  return load_le<u64>(bytes().data() + header_.chunks.at + chunk * kChunkEntryBytes);
}

u64 GoldenReader::bodies_in(u64 chunk) const {
  return std::min<u64>(header_.chunk_pages, header_.bodies - chunk * header_.chunk_pages);
}

void GoldenReader::unpack(u64 chunk, u8* to) const {
  const u64 from = chunk == 0 ? 0 : chunk_end(chunk - 1);
  const auto frame = section(header_.pages).subspan(from, chunk_end(chunk) - from);
  if (!zstd::decompress(frame, {to, bodies_in(chunk) * kPageSize})) {
    refuse(ErrorKind::kGoldenChunk, "chunk " + std::to_string(chunk) + " was altered");
  }
}

void GoldenReader::read_body(u64 body, u8* to) const {
  if (header_.layout == GoldenLayout::kMapped) {
    std::memcpy(to, mapped_bodies() + body * kPageSize, kPageSize);
  } else {
    std::vector<u8> chunk(header_.chunk_pages * kPageSize);
    unpack(body / header_.chunk_pages, chunk.data());
    std::memcpy(to, chunk.data() + body % header_.chunk_pages * kPageSize, kPageSize);
  }
  if (hash_page(to) != body_hash(body)) {
    refuse(ErrorKind::kGoldenPage, "body " + std::to_string(body) + " was altered");
  }
}

std::span<const u8> GoldenReader::code() const {
  return code_is_whole() ? section(header_.code) : std::span<const u8>{};
}

bool GoldenReader::code_is_whole() const {
  return header_.first_golden() || hash_bytes(section(header_.code)) == header_.code.hash;
}

}  // namespace shinken
