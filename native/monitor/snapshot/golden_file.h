#pragma once
// Golden files, the formats: docs/golden.md. This monitor writes version 2 and reads 1 and 2. All integers
// are little-endian. Version 2:
//
//   0    +------------------------------------------------+
//        | header, 256 bytes: sizes, table of sections    |
//   256  +------------------------------------------------+
//        | meta: hart and board, disks, note              |
//        | index: {page u32, body u32}*, {body's hash}*   |
//        | chunks: {end of a compressed chunk u64}*       |
//        | code: {body u32, n u16, n half-words u16}*     |
//        +------------------------------------------------+  a multiple of 4096, if they are mapped
//        | bodies: the different pages, 4096 bytes each   |
//        |   or zstd frames of 32 of them                 |
//        +------------------------------------------------+  file_bytes
//
// Delta files are alike: a machine's state as its difference from a golden.
#include <span>
#include <vector>

#include "monitor/base/digest.h"
#include "monitor/base/types.h"
#include "monitor/snapshot/golden.h"

namespace shinken::golden_file {

inline constexpr u8 kMagic[8] = {'S', 'K', 'G', 'O', 'L', 'D', 'E', 'N'};
inline constexpr u32 kVersion = 2;
inline constexpr u8 kDeltaMagic[8] = {'S', 'K', 'G', 'D', 'E', 'L', 'T', 'A'};
inline constexpr u32 kDeltaVersion = 1;
inline constexpr u64 kHeaderBytes1 = 128;
inline constexpr u64 kHeaderBytes = 256;
inline constexpr u64 kSealBytes = 16;         // hash of the header's bytes before it
inline constexpr u64 kIndexEntryBytes1 = 24;  // page number u64, hash
inline constexpr u64 kIndexEntryBytes = 8;    // page number u32, body u32
inline constexpr u64 kBodyHashBytes = 16;
inline constexpr u64 kChunkEntryBytes = 8;
inline constexpr u32 kChunkPages = 32;
inline constexpr u32 kMaxChunkPages = 1024;
inline constexpr u64 kMaxMetaBytes = 64 * 1024 * 1024;  // state, disks and note together
inline constexpr u64 kMaxNoteBytes = 64 * 1024;
inline constexpr u64 kMaxCodeBytes = 64 * 1024 * 1024;
inline constexpr u64 kMaxFileBytes = u64{1} << 40;

enum class FileKind : u8 { kGolden, kDelta };

struct Section {
  u64 at = 0, bytes = 0;
  Digest hash;  // of the bytes; zero for the bodies, each of which has its own in the index
  u64 end() const { return at + bytes; }
};

/// What the header says, of either kind and any version.
struct Header {
  FileKind kind = FileKind::kGolden;
  u32 version = kVersion;
  u32 machine_abi = 0;
  Digest state_digest;  // of the whole machine
  u64 file_bytes = 0, memory_pages = 0;
  u64 stored_pages = 0;  // entries of the index
  u64 bodies = 0;        // different pages
  GoldenLayout layout = GoldenLayout::kMapped;
  u32 chunk_pages = 0;  // bodies in a compressed chunk, save the last; 0 if they are mapped
  Section meta, index, chunks, code, pages;
  Digest stands_on;  // of a delta: the state digest of its golden

  bool delta() const { return kind == FileKind::kDelta; }
  /// Golden files of version 1 had an index of another form.
  bool first_golden() const { return !delta() && version == 1; }
  /// Whether bodies can be used where they lie; a delta's are copied.
  u64 page_alignment() const { return !delta() && layout == GoldenLayout::kMapped ? kPageSize : 8; }
  u64 chunk_count() const { return chunk_pages == 0 ? 0 : (bodies + chunk_pages - 1) / chunk_pages; }
};

/// Reads the header of a file of that kind and checks it in itself and against the file's length, so that all
/// sections lie in the file. Another machine_abi passes. Throws MonitorError kGoldenMagic, kGoldenTruncated,
/// kGoldenVersion, kGoldenHeader.
Header read_header(std::span<const u8> file, FileKind kind = FileKind::kGolden);
/// The version that is written.
std::vector<u8> encode_header(const Header& header);

inline u64 align_up(u64 value, u64 by) {
  return (value + by - 1) / by * by;
}

}  // namespace shinken::golden_file
