#pragma once
// Golden file format v1. The full description is docs/golden.md; this is the map. All integers are
// little-endian.
//
//   0    +------------------------------------------------+
//        | header, 128 bytes                              |
//   128  +------------------------------------------------+
//        | state: hart and board       state_bytes        |
//        | disks: count, {size, identity}*                |
//        | note: opaque text                              |
//        +------------------------------------------------+  index_at (multiple of 8)
//        | index: {page number u64, hash lo, hash hi}*    |
//        +------------------------------------------------+  pages_at (multiple of 4096)
//        | pages, 4096 bytes each, in the index's order   |
//        +------------------------------------------------+  file_bytes
#include "monitor/base/digest.h"
#include "monitor/base/types.h"

namespace shinken::golden_file {

inline constexpr u8 kMagic[8] = {'S', 'K', 'G', 'O', 'L', 'D', 'E', 'N'};
inline constexpr u32 kVersion = 1;
inline constexpr u64 kHeaderBytes = 128;
inline constexpr u64 kIndexEntryBytes = 24;
inline constexpr u64 kMaxMetaBytes = 64 * 1024 * 1024;  // state, disks and note together
inline constexpr u64 kMaxNoteBytes = 64 * 1024;

/// The header's fields, in file order.
struct Header {
  u32 version, machine_abi;
  Digest state_digest;  // of the whole machine
  u64 file_bytes, memory_pages, stored_pages;
  u64 meta_bytes;  // state, disks, note: from kHeaderBytes on
  u64 index_at, pages_at;
  Digest meta_hash, index_hash;
  // The last 16 bytes are the hash of the 112 before them.
};

}  // namespace shinken::golden_file
