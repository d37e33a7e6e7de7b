#pragma once
// Guest RAM as one flat mapping: of the golden's file, private, so that the kernel copies on write; of
// nothing, in a first machine. A page's host address is fixed, except that a page of zeros that nobody wrote
// is read from a common one. docs/monitor.md says what each path of userfaultfd does here.
#include <atomic>
#include <optional>
#include <unordered_map>

#include "monitor/memory/flat_image.h"
#include "monitor/memory/machine_memory.h"
#include "monitor/memory/page_set.h"
#include "monitor/memory/soft_memory.h"
#include "monitor/memory/userfault.h"

namespace shinken {

/// How written pages are found.
enum class WriteScan : u8 {
  kWritten,  // those since the last time: asynchronous write-protect and PAGEMAP_SCAN, Linux 6.7
  kPrivate,  // those since the mapping began: the raw page map
};

class MapMemory final : public MachineMemory, private FaultServer {
 public:
  /// All zeros. Throws kNoMemory, kHostUnsupported.
  MapMemory(std::shared_ptr<PagePool> pool, u64 pages);
  /// A copy-on-write child. Throws as above.
  explicit MapMemory(std::shared_ptr<const MemoryImage> image);
  ~MapMemory() override;
  MapMemory(const MapMemory&) = delete;
  MapMemory& operator=(const MapMemory&) = delete;

  const u8* page_for_read(u64 page) override;
  u8* page_for_write(u64 page) override;
  const u8* shared_page(u64 page) const override;
  std::shared_ptr<const void> hold(u64 page) override;
  void watch(u64 page) override { watched_.add(page); }

  /// Copies the dirty pages.
  std::shared_ptr<const MemoryImage> freeze() override;
  /// Scans, which arms the asynchronous write-protect, and copies the pages that were written and changed.
  std::shared_ptr<const MemoryImage> checkpoint() override;
  /// Protects the dirty pages; a write to one waits until it was copied.
  std::unique_ptr<LiveFreeze> begin_live(bool* voids) override;
  bool live() const override { return live_.load(std::memory_order_acquire) != nullptr; }
  /// Hashes the pages that were written since the last call.
  Digest sum() override;
  u64 hashed_pages() const override { return paths_.scanned_pages; }
  u64 dirty_pages() const override { return dirty_.count(); }
  void for_each_dirty(const std::function<void(u64 page)>& visit) const override { dirty_.for_each(visit); }
  PathCounters paths() const override;

  /// The kernel's best by default; kWritten only where `Userfault::has_scan`.
  void scan_by(WriteScan scan) { scan_ = scan; }
  WriteScan scan() const { return scan_; }

 private:
  class Live;
  /// The mapping and who answers its missing pages; both end with it, also if the rest cannot be made.
  struct Range {
    Range() = default;
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
    u8* at = nullptr;
    u64 bytes = 0;
    Userfault* served = nullptr;  // whose missing pages are answered by us
  };
  void on_missing(u8* at) override;
  void on_protected(u8* at) override;
  void map(int file, bool aligned);
  u8* place(u64 page) const { return base_ + (page << kPageShift); }
  Digest frozen_share(u64 page) const;
  std::shared_ptr<const MemoryImage> frozen(SoftMemory& tree) const;
  void go_on_from(const std::shared_ptr<const MemoryImage>& image);
  void rehash_written();

  std::shared_ptr<Userfault> faults_;
  std::shared_ptr<const MemoryImage> image_;  // as of the last fork or freeze
  std::shared_ptr<FlatImage> flat_;           // what is mapped; null: nothing
  u8* base_ = nullptr;                        // of `range_`
  WriteScan scan_;
  PageSet mine_;   // pages that the mapping has for itself
  PageSet dirty_;  // of those, handed out since the last freeze
  PageSet watched_;
  std::unordered_map<u64, Digest> hashes_;  // of pages that differ, perhaps, from the image
  std::optional<Digest> image_sum_;
  Digest difference_;   // the sum of what `hashes_` changes
  PathCounters paths_;  // what the machine's own thread counts
  std::atomic<u64> cold_faults_{0}, live_faults_{0};
  bool cold_ = false;      // missing pages are answered by us
  std::mutex live_mutex_;  // held while the range changes descriptors, and by a scan
  std::atomic<Live*> live_{nullptr};
  Range range_;  // last, so that no fault is answered by what is half gone
};

}  // namespace shinken
