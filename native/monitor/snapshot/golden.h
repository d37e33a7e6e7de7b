#pragma once
// A machine's frozen state: immutable, the parent of forks. File format: docs/golden.md.
#include <memory>
#include <string>
#include <vector>

#include "monitor/base/digest.h"
#include "monitor/base/error.h"
#include "monitor/machine/config.h"

namespace shinken {

class Machine;

/// How much of a golden file is checked when it is loaded.
enum class GoldenCheck : u8 {
  kFull,   // every page against its recorded hash: reads the whole file
  kIndex,  // header, device state, page index and digest; pages are first read when a guest touches them
};

struct GoldenLoad {
  /// The disks of the machine, in order; sizes and identities must be the recorded ones.
  std::vector<DiskConfig> disks;
  GoldenCheck check = GoldenCheck::kFull;
};

/// How a golden file holds its pages.
enum class GoldenLayout : u32 {
  kMapped,      // used in place: nothing is read before it is touched, and processes share the page cache
  kCompressed,  // smaller; unpacked into memory of the process by every load
};

/// Safe to use from any thread. Forks hold what they need of it, so it may be dropped while they live.
class Golden final {
 public:
  /// Maps a golden file, of any version; its pages are used in place unless they are compressed. Throws
  /// MonitorError with a kGolden... kind, kFile or kZstdMissing.
  static std::shared_ptr<Golden> load(const std::string& path, const GoldenLoad& options);
  /// Writes the file under a temporary name beside `path`, syncs, and renames. `note` is opaque text (at most
  /// 64 KiB) that `note()` gives back after a load. Throws kFile, kInvalidConfig, kZstdMissing; leaves no
  /// half file.
  void save(const std::string& path, const std::string& note = "",
            GoldenLayout layout = GoldenLayout::kMapped) const;

  ~Golden();
  Golden(const Golden&) = delete;
  Golden& operator=(const Golden&) = delete;

  /// The frozen machine's state digest; computed once, at the first call.
  Digest digest() const;
  u64 memory_bytes() const;  // size of RAM
  u64 stored_pages() const;  // pages that are not the shared zero page
  u64 instret() const;
  u64 ticks() const;
  const std::string& note() const;
  /// For a loaded golden: the pages that forks with flat memory touched before they were in memory, in order.
  std::vector<u32> touched_pages() const;
  /// Reads pages in this order, and then the rest, before forks with flat memory touch them.
  void prefetch(std::vector<u32> order) const;
  /// True if it has code for its forks: by `Machine::share_code_with`, or named in its file.
  bool has_code() const;
  /// Decodes the code that the file names, which a load leaves for when there is time: forks made before it
  /// is done decode what they meet. About 1.5 µs a block. Does nothing if there is none or it was done.
  void decode_code() const;

  struct Impl;
  /// For the monitor's own rooms.
  explicit Golden(std::unique_ptr<Impl> impl);
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace shinken
