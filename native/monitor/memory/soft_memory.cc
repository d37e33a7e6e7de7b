#include "monitor/memory/soft_memory.h"

#include <bit>
#include <cstring>

namespace shinken {
namespace {
alignas(kPageSize) const u8 kZeroPage[kPageSize] = {};

/// So many pages are hashed in the time in which a hart finds its way back to a page that was closed. Pages
/// are closed when as much was hashed in vain: at most twice what it would cost to know beforehand.
constexpr u64 kHashesOfReopening = 3;
}  // namespace

SoftMemory::SoftMemory(std::shared_ptr<PagePool> pool, u64 pages)
    : MachineMemory(pages),
      pool_(std::move(pool)),
      root_((pages + kPagesPerMid - 1) / kPagesPerMid),
      watched_(root_.size()),
      open_(pages) {}

SoftMemory::SoftMemory(const MemoryImage& image)
    : MachineMemory(image.pages()),
      pool_(image.pool()),
      root_(image.root()),
      watched_(root_.size()),
      open_(image.pages()) {
  for (Mid* mid : root_) {
    if (mid != nullptr) mid->keep();
  }
}

SoftMemory::~SoftMemory() {
  for (Mid* mid : root_) {
    if (mid != nullptr) mid->drop();
  }
}

Page* SoftMemory::find(u64 page) const {
  const Mid* mid = root_[mid_index(page)];
  if (mid == nullptr) return nullptr;
  const Leaf* leaf = mid->leaf[leaf_index(page)];
  return leaf == nullptr ? nullptr : leaf->page[slot_index(page)];
}

const u8* SoftMemory::page_for_read(u64 page) {
  const Page* found = find(page);
  return found == nullptr ? kZeroPage : found->data;
}

const u8* SoftMemory::shared_page(u64 page) const {
  const Mid* mid = root_[mid_index(page)];
  if (mid == nullptr) return nullptr;
  const Leaf* leaf = mid->leaf[leaf_index(page)];
  if (leaf == nullptr || (leaf->dirty >> slot_index(page) & 1) != 0) return nullptr;
  const Page* found = leaf->page[slot_index(page)];
  return found == nullptr ? nullptr : found->data;
}

std::shared_ptr<const void> SoftMemory::hold(u64 page) {
  if (!is_shared(page)) return nullptr;
  // A page with a second reference is copied before it is written, whoever writes.
  Page* held = find(page);
  held->keep();
  return {held->data, [held, pool = pool_](const void*) { held->drop(); }};
}

u64* SoftMemory::watch_word(u64 page) const {
  WatchBits* bits = watched_[mid_index(page)].get();
  return bits == nullptr ? nullptr : &(*bits)[page % kPagesPerMid / 64];
}

void SoftMemory::watch(u64 page) {
  auto& bits = watched_[mid_index(page)];
  if (!bits) bits = std::make_unique<WatchBits>();
  *watch_word(page) |= u64{1} << (page % 64);
}

/// The leaf of `page`, reachable from this memory alone.
Leaf* SoftMemory::private_leaf(u64 page) {
  Mid* mid = private_node(root_[mid_index(page)], *pool_);
  Leaf* leaf = private_node(mid->leaf[leaf_index(page)], *pool_);
  mid->dirty |= u64{1} << leaf_index(page);
  return leaf;
}

/// Takes a page that is about to be written out of the sum, if it is in it.
void SoftMemory::open(u64 number, Page* page) {
  if (!sum_ || !open_.add(number) || page == nullptr) return;
  const Digest share = page_share(number, page->content_hash());
  sum_->lo -= share.lo;
  sum_->hi -= share.hi;
}

u8* SoftMemory::page_for_write(u64 page) {
  Leaf* leaf = private_leaf(page);
  const u64 slot = slot_index(page);
  const u64 bit = u64{1} << slot;
  Page* old = leaf->page[slot];
  open(page, old);
  Page* left = nullptr;
  bool moved = false;
  if ((leaf->dirty & bit) == 0) {
    const bool own = old != nullptr && old->home->writable && old->refs.load(std::memory_order_acquire) == 1;
    Page* fresh = own ? old : pool_->take();
    if (!own) {
      if (old == nullptr) {
        std::memset(fresh->data, 0, kPageSize);
      } else {
        std::memcpy(fresh->data, old->data, kPageSize);
      }
      moved = true;
      left = old;
    }
    leaf->unsum(slot, page);
    leaf->page[slot] = fresh;
    leaf->dirty |= bit;
    ++dirty_;
  }
  leaf->page[slot]->hashed.store(false, std::memory_order_relaxed);
  u64* word = watch_word(page);
  const u64 watch = u64{1} << (page % 64);
  const bool watched = word != nullptr && (*word & watch) != 0;
  if ((moved || watched) && observer_ != nullptr) observer_->on_page_write(page, moved);
  if (watched) *word &= ~watch;
  // Last, so that no pointer into the old bytes outlives them.
  if (left != nullptr) left->drop();
  return leaf->page[slot]->data;
}

void SoftMemory::for_each_dirty(const std::function<void(u64 page)>& visit) const {
  for (u64 m = 0; m < root_.size(); ++m) {
    if (root_[m] == nullptr) continue;
    for (u64 leaves = root_[m]->dirty; leaves != 0; leaves &= leaves - 1) {
      const u64 l = static_cast<u64>(std::countr_zero(leaves));
      for (u64 pages = root_[m]->leaf[l]->dirty; pages != 0; pages &= pages - 1) {
        visit(m * kPagesPerMid + l * kFan + static_cast<u64>(std::countr_zero(pages)));
      }
    }
  }
}

std::shared_ptr<const MemoryImage> SoftMemory::freeze() {
  for (Mid* mid : root_) {
    if (mid == nullptr) continue;
    for (u64 leaves = mid->dirty; leaves != 0; leaves &= leaves - 1) {
      Leaf* leaf = mid->leaf[std::countr_zero(leaves)];
      if (leaf->dirty != 0) leaf->summed.store(false, std::memory_order_relaxed);
      leaf->dirty = 0;
    }
    // A clear word is never written: the node may be shared, and others may be reading it.
    if (mid->dirty != 0) mid->dirty = 0;
    mid->keep();
  }
  dirty_ = 0;
  return std::make_shared<const MemoryImage>(pool_, pages_, root_);
}

std::unique_ptr<LiveFreeze> SoftMemory::begin_live(bool* voids) {
  /// It is there at once: the tree is copied as it is written.
  struct Ready final : LiveFreeze {
    explicit Ready(std::shared_ptr<const MemoryImage> frozen) : image(std::move(frozen)) {}
    std::shared_ptr<const MemoryImage> finish() override { return std::move(image); }
    std::shared_ptr<const MemoryImage> image;
  };
  *voids = true;
  return std::make_unique<Ready>(freeze());
}

/// The sum of the open pages' shares, which stay open. Their hashes are noted, not yet believed.
Digest SoftMemory::sum_open(u64* hashed, u64* changed) {
  Digest sum;
  const auto add = [&sum](u64 number, const Digest& hash) {
    const Digest share = page_share(number, hash);
    sum.lo += share.lo;
    sum.hi += share.hi;
  };
  u64 numbers[kHashedAtOnce];
  Page* pages[kHashedAtOnce];
  unsigned count = 0;
  const auto hash_all = [&] {
    const u8* bytes[kHashedAtOnce];
    Digest hashes[kHashedAtOnce];
    // Too few at the end: the first makes up for those that are missing.
    for (unsigned i = 0; i < kHashedAtOnce; ++i) bytes[i] = pages[i < count ? i : 0]->data;
    hash_pages(bytes, hashes);
    for (unsigned i = 0; i < count; ++i) {
      if (pages[i]->note_hash(hashes[i])) ++*changed;
      add(numbers[i], hashes[i]);
    }
    *hashed += count;
    count = 0;
  };
  open_.for_each([&](u64 number) {
    Page* page = find(number);
    // Null: the host had no memory for the write.
    if (page == nullptr) return;
    // Frozen since, and hashed in the image.
    if (page->hashed.load(std::memory_order_acquire)) return add(number, page->content_hash());
    numbers[count] = number, pages[count] = page;
    if (++count == kHashedAtOnce) hash_all();
  });
  if (count > 0) hash_all();
  return sum;
}

/// Nobody has a pointer for writing after this, so that the pages keep their hashes.
void SoftMemory::close_all(const Digest& sum) {
  open_.for_each([this](u64 number) {
    Page* page = find(number);
    if (page != nullptr) page->hashed.store(true, std::memory_order_release);
  });
  open_.clear();
  sum_ = sum;
  unchanged_ = 0;
  voided_ = true;
}

Digest SoftMemory::sum() {
  const bool first = !sum_;
  if (first) {
    sum_.emplace();
    for (u64 m = 0; m < root_.size(); ++m) {
      if (root_[m] == nullptr) continue;
      for (u64 l = 0; l < kFan; ++l) {
        Leaf* leaf = root_[m]->leaf[l];
        if (leaf == nullptr) continue;
        const Digest part = leaf->clean_sum(m * kPagesPerMid + l * kFan);
        sum_->lo += part.lo;
        sum_->hi += part.hi;
      }
    }
    for_each_dirty([this](u64 page) { open_.add(page); });
  }
  u64 hashed = 0, changed = 0;
  Digest sum = sum_open(&hashed, &changed);
  sum.lo += sum_->lo;
  sum.hi += sum_->hi;
  hashed_ += hashed;
  unchanged_ += hashed - changed;
  voided_ = false;
  if (first || (unchanged_ > 0 && unchanged_ >= kHashesOfReopening * changed)) close_all(sum);
  return sum;
}

}  // namespace shinken
