#include "monitor/memory/map_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "monitor/base/error.h"
#include "monitor/memory/host_mapping.h"
#include "monitor/memory/soft_memory.h"

namespace shinken {
namespace {

alignas(kPageSize) const u8 kZeroPage[kPageSize] = {};

std::shared_ptr<const MemoryImage> empty_image(std::shared_ptr<PagePool> pool, u64 pages) {
  return ImageBuilder(std::move(pool), pages).finish(MemoryKind::kMap);
}

void add(Digest& sum, const Digest& share) {
  sum.lo += share.lo;
  sum.hi += share.hi;
}
void subtract(Digest& sum, const Digest& share) {
  sum.lo -= share.lo;
  sum.hi -= share.hi;
}

/// Counters of the whole process, for metrics alone.
struct AllPaths {
  std::atomic<u64> scanned_pages{0}, cold_faults{0}, prefetched_pages{0}, live_faults{0};
};
AllPaths totals;

}  // namespace

PathCounters all_paths() {
  return {totals.scanned_pages.load(), totals.cold_faults.load(), totals.prefetched_pages.load(),
          totals.live_faults.load()};
}

void count_prefetched() {
  totals.prefetched_pages.fetch_add(1, std::memory_order_relaxed);
}

MapMemory::MapMemory(std::shared_ptr<PagePool> pool, u64 pages)
    : MachineMemory(pages),
      faults_(Userfault::shared()),
      image_(empty_image(std::move(pool), pages)),
      scan_(faults_->has_scan() ? WriteScan::kWritten : WriteScan::kPrivate),
      mine_(pages),
      dirty_(pages),
      watched_(pages) {
  map(-1, false);
}

MapMemory::MapMemory(std::shared_ptr<const MemoryImage> image)
    : MachineMemory(image->pages()),
      faults_(Userfault::shared()),
      image_(std::move(image)),
      flat_(FlatImage::of(*image_)),
      scan_(faults_->has_scan() ? WriteScan::kWritten : WriteScan::kPrivate),
      mine_(pages_),
      dirty_(pages_),
      watched_(pages_) {
  map(flat_->file(), flat_->huge() > 0);
  image_->for_each_difference(flat_->content(), [this](u64 number, Page* page) {
    faults_->copy(place(number), page == nullptr ? kZeroPage : page->data, kPageSize);
    mine_.add(number);
  });
  count_flat_pages(static_cast<i64>(mine_.count()));
}

MapMemory::~MapMemory() {
  count_flat_pages(-static_cast<i64>(mine_.count()));
}

MapMemory::Range::~Range() {
  if (at == nullptr) return;
  // Nobody touches the mapping any more, so that no fault waits for an answer that will not come.
  if (served != nullptr) served->remove(at);
  munmap(at, bytes);
}

void MapMemory::map(int file, bool aligned) {
  const int flags = MAP_PRIVATE | MAP_NORESERVE | (file < 0 ? MAP_ANONYMOUS : 0);
  // SAFETY: private memory that lives as long as this object.
  base_ = range_.at = map_host(file, size(), PROT_READ | PROT_WRITE, flags, aligned);
  range_.bytes = size();
  cold_ = flat_ && !flat_->complete();
  if (cold_) {
    faults_->add_missing(base_, size(), this);
    range_.served = faults_.get();
  } else if (!faults_->add(base_, size())) {
    scan_ = WriteScan::kPrivate;
  }
}

void MapMemory::on_missing(u8* at) {
  try {
    flat_->touch(static_cast<u64>(at - base_) >> kPageShift);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The host has no memory just now: woken, the hart asks again.
  }
  cold_faults_.fetch_add(1, std::memory_order_relaxed);
  totals.cold_faults.fetch_add(1, std::memory_order_relaxed);
}

/// The pages that were dirty at the moment of the snapshot are copied by whoever comes first: `finish`, or
/// the handler for a write that waits.
class MapMemory::Live final : public LiveFreeze {
 public:
  /// With `live_mutex_` held.
  explicit Live(MapMemory& memory) : memory_(memory), tree_(*memory.image_), pending_(memory.dirty_) {
    memory_.faults_->begin_protect(memory_.base_, memory_.size(), &memory_);
    memory_.live_.store(this, std::memory_order_release);
    try {
      protect_all();
    } catch (...) {
      end_locked();
      throw;
    }
  }
  ~Live() override { end(); }

  std::shared_ptr<const MemoryImage> finish() override {
    std::vector<u64> left;
    {
      std::lock_guard lock(mutex_);
      pending_.for_each([&](u64 page) { left.push_back(page); });
    }
    for (const u64 page : left) {
      if (copy(page)) memory_.faults_->protect(memory_.place(page), kPageSize, false);
    }
    end();
    // Ended first, so that nobody copies any more.
    if (failed_) throw MonitorError(ErrorKind::kNoMemory, "the host refused memory for a live snapshot");
    auto image = tree_.freeze()->twin(MemoryKind::kMap);
    image->flat_slot().flat = memory_.flat_;
    return image;
  }

  /// False if it was copied before. Does not throw, since the writer that waits is not the snapshot's owner:
  /// where the host has no memory the snapshot fails, and the writer goes on.
  bool copy(u64 page) noexcept {
    std::lock_guard lock(mutex_);
    if (!pending_.remove(page)) return false;
    if (failed_) return true;
    try {
      std::memcpy(tree_.page_for_write(page), memory_.place(page), kPageSize);
    } catch (const std::exception&) {
      failed_ = true;
    }
    return true;
  }

 private:
  void protect_all() {
    u64 first = 0, count = 0;
    const auto flush = [&] {
      if (count > 0) memory_.faults_->protect(memory_.place(first), count << kPageShift, true);
    };
    // A copy: the handler already takes pages out of the set.
    const PageSet pages = [this] {
      const std::lock_guard lock(mutex_);
      return pending_;
    }();
    pages.for_each([&](u64 page) {
      if (page == first + count && count > 0) {
        ++count;
        return;
      }
      flush();
      first = page, count = 1;
    });
    flush();
  }
  void end() {
    std::lock_guard lock(memory_.live_mutex_);
    end_locked();
  }
  void end_locked() {
    if (memory_.live_.load() != this) return;
    memory_.faults_->end_protect(memory_.base_, memory_.size());
    memory_.live_.store(nullptr, std::memory_order_release);
  }

  MapMemory& memory_;
  std::mutex mutex_;  // guards what follows
  SoftMemory tree_;
  PageSet pending_;
  bool failed_ = false;  // pages are missing in `tree_`
};

std::unique_ptr<LiveFreeze> MapMemory::begin_live(bool* voids) {
  // Before Linux 6.7 not every page can be protected; a cold range already has a server.
  if (cold_ || !faults_->has_scan()) {
    struct Ready final : LiveFreeze {
      explicit Ready(std::shared_ptr<const MemoryImage> frozen) : image(std::move(frozen)) {}
      std::shared_ptr<const MemoryImage> finish() override { return std::move(image); }
      std::shared_ptr<const MemoryImage> image;
    };
    *voids = true;
    return std::make_unique<Ready>(freeze());
  }
  *voids = false;
  std::lock_guard lock(live_mutex_);
  return std::make_unique<Live>(*this);
}

void MapMemory::on_protected(u8* at) {
  // `remove` waits for this call, so that the snapshot lives as long as it takes.
  Live* live = live_.load(std::memory_order_acquire);
  if (live != nullptr && live->copy(static_cast<u64>(at - base_) >> kPageShift)) {
    live_faults_.fetch_add(1, std::memory_order_relaxed);
    totals.live_faults.fetch_add(1, std::memory_order_relaxed);
  }
  faults_->protect(at, kPageSize, false);
}

PathCounters MapMemory::paths() const {
  PathCounters all = paths_;
  all.cold_faults = cold_faults_.load(std::memory_order_relaxed);
  all.live_faults = live_faults_.load(std::memory_order_relaxed);
  return all;
}

const u8* MapMemory::page_for_read(u64 page) {
  // Not the mapping's: reading a hole would give the file a page of zeros.
  if (!mine_.has(page) && image_->find(page) == nullptr) return kZeroPage;
  return place(page);
}

u8* MapMemory::page_for_write(u64 page) {
  // Its address is the same unless it was the common page of zeros, but it is no longer the golden's.
  const bool moved = dirty_.add(page);
  if (moved && mine_.add(page)) {
    count_flat_pages(1);
    // Writing a hole would give the file a page as well.
    if (flat_ && image_->find(page) == nullptr) faults_->copy(place(page), kZeroPage, kPageSize);
  }
  const bool watched = watched_.has(page);
  if ((moved || watched) && observer_ != nullptr) observer_->on_page_write(page, moved);
  if (watched) watched_.remove(page);
  return place(page);
}

const u8* MapMemory::shared_page(u64 page) const {
  if (dirty_.has(page)) return nullptr;
  const Page* found = image_->find(page);
  return found == nullptr ? nullptr : found->data;
}

std::shared_ptr<const void> MapMemory::hold(u64 page) {
  if (dirty_.has(page)) return nullptr;
  Page* held = image_->find(page);
  if (held == nullptr) return nullptr;
  // Somebody's besides the image: whoever writes makes a copy.
  held->keep();
  return {held->data, [held, pool = image_->pool()](const void*) { held->drop(); }};
}

Digest MapMemory::frozen_share(u64 page) const {
  Page* found = image_->find(page);
  return found == nullptr ? Digest{} : page_share(page, found->content_hash());
}

/// Brings `hashes_` and `difference_` up to date.
void MapMemory::rehash_written() {
  const auto rehash = [this](u64 page) {
    const Digest hash = hash_page(place(page));
    const auto known = hashes_.find(page);
    subtract(difference_, known == hashes_.end() ? frozen_share(page) : page_share(page, known->second));
    add(difference_, page_share(page, hash));
    hashes_[page] = hash;
    ++paths_.scanned_pages;
    totals.scanned_pages.fetch_add(1, std::memory_order_relaxed);
  };
  std::lock_guard lock(live_mutex_);
  // Pages are written only after they were handed out, so that the rest need not be looked at.
  mine_.for_each_piece([&](u64 first) {
    const u64 count = std::min(kPagesPerMid, pages_ - first);
    const auto visit = [&](u64 from, u64 found) {
      for (u64 i = 0; i < found; ++i) rehash(first + from + i);
    };
    // A range under a snapshot is the other descriptor's, and counts as all written afterwards.
    if (scan_ == WriteScan::kWritten && live_.load() == nullptr) {
      faults_->scan_written(place(first), count << kPageShift, visit);
    } else {
      faults_->scan_private(place(first), count << kPageShift, visit);
    }
  });
}

Digest MapMemory::sum() {
  if (!image_sum_) image_sum_ = image_->sum();
  rehash_written();
  Digest sum = *image_sum_;
  add(sum, difference_);
  return sum;
}

/// The image of `tree`, which has the present content, with the hashes that digests found out.
std::shared_ptr<const MemoryImage> MapMemory::frozen(SoftMemory& tree) const {
  auto image = tree.freeze()->twin(MemoryKind::kMap);
  dirty_.for_each([&](u64 page) {
    const auto known = hashes_.find(page);
    Page* kept = image->find(page);
    if (known != hashes_.end() && kept != nullptr) kept->set_hash(known->second);
  });
  return image;
}

void MapMemory::go_on_from(const std::shared_ptr<const MemoryImage>& image) {
  dirty_.clear();
  hashes_.clear();
  difference_ = {};
  image_ = image;
}

std::shared_ptr<const MemoryImage> MapMemory::freeze() {
  // What the last digests found out need not be found out again.
  if (!hashes_.empty()) rehash_written();
  SoftMemory tree(*image_);
  dirty_.for_each([&](u64 page) { std::memcpy(tree.page_for_write(page), place(page), kPageSize); });
  auto image = frozen(tree);
  if (!flat_ || dirty_.count() > flat_->stored() / 2) {
    image = FlatImage::flattened(*image);
  } else {
    image->flat_slot().flat = flat_;
  }
  go_on_from(image);
  image_sum_.reset();
  return image;
}

std::shared_ptr<const MemoryImage> MapMemory::checkpoint() {
  const Digest now = sum();
  SoftMemory tree(*image_);
  dirty_.for_each([&](u64 page) {
    // Handed out, but not written.
    if (!hashes_.contains(page)) return;
    const Page* before = image_->find(page);
    if (std::memcmp(place(page), before == nullptr ? kZeroPage : before->data, kPageSize) == 0) return;
    std::memcpy(tree.page_for_write(page), place(page), kPageSize);
  });
  auto image = frozen(tree);
  image->flat_slot().flat = flat_;
  go_on_from(image);
  image_sum_ = now;
  return image;
}

}  // namespace shinken
