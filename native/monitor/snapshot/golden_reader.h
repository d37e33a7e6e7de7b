#pragma once
// Any part of a golden file of either version, or of a delta file, without reading the rest.
#include <memory>
#include <string>

#include "monitor/base/file.h"
#include "monitor/snapshot/golden_file.h"
#include "monitor/snapshot/golden_inspect.h"

namespace shinken {

/// Of a whole, mapped file whose header, meta, index and chunk table are sound; the bodies and the code are
/// looked at when they are asked for. Immutable; safe to use from any thread.
class GoldenReader {
 public:
  /// Throws MonitorError kFile, kGoldenMagic, kGoldenTruncated, kGoldenVersion, kGoldenHeader, kGoldenState,
  /// kGoldenIndex, kGoldenChunk. Another machine_abi passes.
  explicit GoldenReader(const std::string& path, golden_file::FileKind kind = golden_file::FileKind::kGolden);

  const golden_file::Header& header() const { return header_; }
  const std::shared_ptr<const MappedFile>& file() const { return file_; }

  struct Meta {
    std::vector<u8> state;  // hart and board
    std::vector<GoldenFacts::Disk> disks;
    std::string note;
  };
  /// Throws kGoldenState.
  Meta meta() const;

  /// Entry `i` of the index, i < stored_pages: which page it is, and which body its content.
  u64 number(u64 i) const;
  u64 body_of(u64 i) const;
  /// body < bodies.
  Digest body_hash(u64 body) const;

  /// The bodies of a mapped file, one after the other. SAFETY: valid as long as `file()` is held.
  const u8* mapped_bodies() const { return bytes().data() + header_.pages.at; }
  /// Bodies of chunk `chunk` < chunk_count(); unpacked to `to`, which has room for chunk_pages pages. Throws
  /// kGoldenChunk, kZstdMissing.
  void unpack(u64 chunk, u8* to) const;
  u64 bodies_in(u64 chunk) const;
  /// Bytes of one body, whichever the layout: reads nothing of the others but those of its chunk. Throws
  /// kGoldenPage, kGoldenChunk, kZstdMissing.
  void read_body(u64 body, u8* to) const;

  /// Block starts as golden_code.h has them; empty if there are none or their checksum is wrong.
  std::span<const u8> code() const;
  bool code_is_whole() const;

 private:
  std::span<const u8> bytes() const { return file_->bytes(); }
  std::span<const u8> section(const golden_file::Section& s) const { return bytes().subspan(s.at, s.bytes); }
  const u8* entry(u64 i) const;
  void check_index() const;
  void check_chunks() const;
  u64 chunk_end(u64 chunk) const;

  std::shared_ptr<const MappedFile> file_;
  golden_file::Header header_;
};

}  // namespace shinken
