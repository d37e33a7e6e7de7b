#include "monitor/memory/memory_image.h"

#include <utility>

namespace shinken {
namespace {

void drop_all(const std::vector<Mid*>& root) {
  for (Mid* mid : root) {
    if (mid != nullptr) mid->drop();
  }
}

}  // namespace

MemoryImage::MemoryImage(std::shared_ptr<PagePool> pool, u64 pages, std::vector<Mid*> root)
    : pool_(std::move(pool)), pages_(pages), root_(std::move(root)) {}

MemoryImage::~MemoryImage() {
  drop_all(root_);
}

Digest MemoryImage::sum() const {
  Digest total;
  for (u64 m = 0; m < root_.size(); ++m) {
    if (root_[m] == nullptr) continue;
    for (u64 l = 0; l < kFan; ++l) {
      Leaf* leaf = root_[m]->leaf[l];
      if (leaf == nullptr) continue;
      const Digest sum = leaf->clean_sum(m * kPagesPerMid + l * kFan);
      total.lo += sum.lo;
      total.hi += sum.hi;
    }
  }
  return total;
}

void MemoryImage::for_each_page(const std::function<void(u64 number, Page& page)>& visit) const {
  for (u64 m = 0; m < root_.size(); ++m) {
    if (root_[m] == nullptr) continue;
    for (u64 l = 0; l < kFan; ++l) {
      Leaf* leaf = root_[m]->leaf[l];
      if (leaf == nullptr) continue;
      for (u64 i = 0; i < kFan; ++i) {
        if (leaf->page[i] != nullptr) visit(m * kPagesPerMid + l * kFan + i, *leaf->page[i]);
      }
    }
  }
}

u64 MemoryImage::stored_pages() const {
  u64 count = 0;
  for_each_page([&](u64, Page&) { ++count; });
  return count;
}

ImageBuilder::ImageBuilder(std::shared_ptr<PagePool> pool, u64 pages)
    : pool_(std::move(pool)), pages_(pages), root_((pages + kPagesPerMid - 1) / kPagesPerMid) {}

ImageBuilder::~ImageBuilder() {
  drop_all(root_);
}

void ImageBuilder::put(u64 number, Page* page) {
  Mid*& mid = root_[mid_index(number)];
  if (mid == nullptr) mid = new Mid(*pool_);
  Leaf*& leaf = mid->leaf[leaf_index(number)];
  if (leaf == nullptr) leaf = new Leaf(*pool_);
  leaf->page[slot_index(number)] = page;
  leaf->summed.store(false, std::memory_order_relaxed);
}

std::shared_ptr<const MemoryImage> ImageBuilder::finish() {
  return std::make_shared<const MemoryImage>(pool_, pages_, std::exchange(root_, {}));
}

}  // namespace shinken
