#pragma once
// Checksums of golden and delta files that an input made wrong, so that mutations reach beyond them.
#include <algorithm>

#include "monitor/base/bytes.h"
#include "monitor/base/zstd.h"
#include "monitor/snapshot/golden_file.h"
#include "monitor/snapshot/golden_impl.h"

namespace shinken::fuzz {

inline void put_digest(u8* at, const Digest& digest) {
  store_le(at, digest.lo);
  store_le(at + 8, digest.hi);
}

/// Part of a file, as far as the file has it.
struct Part {
  u64 at = 0, bytes = 0;
};
inline Part part_at(std::vector<u8>& file, u64 at, u64 bytes) {
  if (at > file.size() || bytes > file.size() - at) return {0, 0};
  return {at, bytes};
}
inline Digest hash_of(std::vector<u8>& file, const Part& part) {
  return hash_bytes(std::span(file).subspan(part.at, part.bytes));
}

/// The hash of every body that the file has, one after the other at `hashes` or each behind its entry.
inline void hash_bodies(std::vector<u8>& file, u64 hashes, u64 step, u64 count, u64 pages) {
  for (u64 i = 0; i < count; ++i) {
    if (part_at(file, hashes + i * step, 16).bytes == 0) return;
    if (part_at(file, pages + i * kPageSize, kPageSize).bytes == 0) return;
    put_digest(&file[hashes + i * step], hash_page(&file[pages + i * kPageSize]));
  }
}

/// The compressed bodies' hashes, as far as their frames are whole.
inline void hash_packed(std::vector<u8>& file, u64 hashes, u64 count, u64 chunk_pages, u64 table, u64 pages) {
  if (chunk_pages == 0 || chunk_pages > golden_file::kMaxChunkPages || !zstd::available()) return;
  u64 from = 0;
  for (u64 first = 0; first < count; first += chunk_pages) {
    const u64 chunk = first / chunk_pages, in_it = std::min(chunk_pages, count - first);
    if (part_at(file, table + 8 * chunk, 8).bytes == 0) return;
    const u64 end = load_le<u64>(&file[table + 8 * chunk]);
    if (end < from || part_at(file, pages + from, end - from).bytes == 0) return;
    std::vector<u8> room(in_it * kPageSize);
    if (!zstd::decompress(std::span(file).subspan(pages + from, end - from), room)) return;
    for (u64 i = 0; i < in_it; ++i) {
      if (part_at(file, hashes + (first + i) * 16, 16).bytes == 0) return;
      put_digest(&file[hashes + (first + i) * 16], hash_page(&room[i * kPageSize]));
    }
    from = end;
  }
}

inline void put_state_digest(std::vector<u8>& file, u64 meta, const Digest& sum) {
  if (part_at(file, meta, 4).bytes == 0) return;
  const Part state = part_at(file, meta + 4, load_le<u32>(&file[meta]));
  if (state.bytes == 0) return;
  put_digest(&file[16],
             machine_digest(std::span(file).subspan(state.at, state.bytes), load_le<u64>(&file[40]), sum));
}

/// The hashes of all bodies, in a file whose sections are where its header says, of either layout.
inline void hash_all_bodies(std::vector<u8>& file, u64 hashes, u64 bodies, u64 chunks, u64 pages) {
  if (load_le<u32>(&file[64]) == 0) {
    hash_bodies(file, hashes, 16, bodies, pages);
  } else {
    hash_packed(file, hashes, bodies, load_le<u32>(&file[68]), chunks, pages);
  }
}

}  // namespace shinken::fuzz
