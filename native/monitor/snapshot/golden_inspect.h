#pragma once
// What a golden file says of itself, without its disks and whatever machine_abi wrote it; and the same state
// in another layout.
#include <string>
#include <vector>

#include "monitor/snapshot/golden.h"

namespace shinken {

struct GoldenFacts {
  struct Disk {
    u64 size;  // bytes
    std::string identity;
  };
  u32 version, machine_abi;
  Digest digest;
  GoldenLayout layout;
  u64 file_bytes;
  u64 memory_bytes;  // size of RAM
  u64 stored_pages;  // pages that are not zeros
  u64 bodies;        // different ones among them
  u64 body_bytes;    // what those take in the file
  u64 code_pages, code_blocks;
  std::vector<Disk> disks;
  std::string note;
};

/// kIndex reads everything but the pages, kFull those too. Checks all but whether this monitor could restore
/// the device state. Throws MonitorError kFile or a kGolden... kind, kZstdMissing (kFull of a compressed
/// one).
GoldenFacts inspect_golden(const std::string& path, GoldenCheck check);

/// Writes the golden of file `from` (of any version) to `to`, which may be the same, in version 2 and that
/// layout: the same state, note and code. Throws as `inspect_golden` and `Golden::save`.
void repack_golden(const std::string& from, const std::string& to, GoldenLayout layout);

}  // namespace shinken
