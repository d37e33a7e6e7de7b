#pragma once
// Guest RAM as a tree of reference-counted host pages: a fork copies a root of one pointer per 16 MiB.
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "monitor/memory/machine_memory.h"
#include "monitor/memory/page_set.h"

namespace shinken {

class SoftMemory final : public MachineMemory {
 public:
  /// All zeros. `pool` is this family's.
  SoftMemory(std::shared_ptr<PagePool> pool, u64 pages);
  /// A copy-on-write child; the image may be dropped while the child lives.
  explicit SoftMemory(const MemoryImage& image);
  ~SoftMemory() override;
  SoftMemory(const SoftMemory&) = delete;
  SoftMemory& operator=(const SoftMemory&) = delete;

  const u8* page_for_read(u64 page) override;
  /// Throws MonitorError kNoMemory.
  u8* page_for_write(u64 page) override;
  const u8* shared_page(u64 page) const override;
  std::shared_ptr<const void> hold(u64 page) override;
  void watch(u64 page) override;

  std::shared_ptr<const MemoryImage> freeze() override;
  bool freezes_at_once() const override { return true; }
  std::unique_ptr<LiveFreeze> begin_live(bool* voids) override;
  /// At the first call hashes the dirty pages; later those that may have been written since they were closed.
  Digest sum() override;
  bool sum_voided() const override { return voided_; }
  u64 hashed_pages() const override { return hashed_; }
  u64 dirty_pages() const override { return dirty_; }
  void for_each_dirty(const std::function<void(u64 page)>& visit) const override;

 private:
  /// The word of a page's watch bit, or null if nothing near it is watched.
  u64* watch_word(u64 page) const;
  Leaf* private_leaf(u64 page);
  Page* find(u64 page) const;
  void open(u64 number, Page* page);
  Digest sum_open(u64* hashed, u64* changed);
  void close_all(const Digest& sum);
  std::shared_ptr<PagePool> pool_;
  std::vector<Mid*> root_;
  // One bit a page, in pieces of 16 MiB of RAM that exist once something in them is watched: most of a fork
  // never is.
  using WatchBits = std::array<u64, kPagesPerMid / 64>;
  std::vector<std::unique_ptr<WatchBits>> watched_;
  u64 dirty_ = 0;
  // Sum of the shares of all pages but the open ones; none before a digest is asked for, so that who asks for
  // none pays for none.
  std::optional<Digest> sum_;
  // Handed out for writing since they were closed, so that somebody may have a pointer to write them with. A
  // page stays open over several sums: to hash it once more costs less than to have it handed out again.
  PageSet open_;
  u64 unchanged_ = 0;  // hashes, since the pages were closed, that found what the hash before had
  bool voided_ = false;
  u64 hashed_ = 0;
};

}  // namespace shinken
