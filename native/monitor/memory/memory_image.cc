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

MemoryImage::MemoryImage(std::shared_ptr<PagePool> pool, u64 pages, std::vector<Mid*> root, MemoryKind kind)
    : pool_(std::move(pool)), pages_(pages), root_(std::move(root)), kind_(kind) {}

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

Page* MemoryImage::find(u64 number) const {
  const Mid* mid = root_[mid_index(number)];
  const Leaf* leaf = mid == nullptr ? nullptr : mid->leaf[leaf_index(number)];
  return leaf == nullptr ? nullptr : leaf->page[slot_index(number)];
}

std::shared_ptr<const MemoryImage> MemoryImage::twin(MemoryKind kind) const {
  for (Mid* mid : root_) {
    if (mid != nullptr) mid->keep();
  }
  return std::make_shared<const MemoryImage>(pool_, pages_, root_, kind);
}

void MemoryImage::for_each_difference(const MemoryImage& other,
                                      const std::function<void(u64 number, Page* page)>& visit) const {
  for (u64 m = 0; m < root_.size(); ++m) {
    const Mid *mine = root_[m], *theirs = other.root_[m];
    if (mine == theirs) continue;
    for (u64 l = 0; l < kFan; ++l) {
      const Leaf* leaf = mine == nullptr ? nullptr : mine->leaf[l];
      const Leaf* others = theirs == nullptr ? nullptr : theirs->leaf[l];
      if (leaf == others) continue;
      for (u64 i = 0; i < kFan; ++i) {
        Page* page = leaf == nullptr ? nullptr : leaf->page[i];
        const Page* before = others == nullptr ? nullptr : others->page[i];
        if (page != before) visit(m * kPagesPerMid + l * kFan + i, page);
      }
    }
  }
}

ImageExtent MemoryImage::beyond(const MemoryImage* next, const MemoryImage* base) const {
  ImageExtent extent;
  const auto mid_of = [](const MemoryImage* image, u64 m) -> const Mid* {
    return image == nullptr ? nullptr : image->root_[m];
  };
  const auto leaf_of = [](const Mid* mid, u64 l) -> const Leaf* {
    return mid == nullptr ? nullptr : mid->leaf[l];
  };
  const auto page_of = [](const Leaf* leaf, u64 i) -> const Page* {
    return leaf == nullptr ? nullptr : leaf->page[i];
  };
  for (u64 m = 0; m < root_.size(); ++m) {
    const Mid *mine = root_[m], *later = mid_of(next, m), *before = mid_of(base, m);
    if (mine == nullptr || mine == later || mine == before) continue;
    extent.table_bytes += sizeof(Mid);
    for (u64 l = 0; l < kFan; ++l) {
      const Leaf *leaf = mine->leaf[l], *laters = leaf_of(later, l), *befores = leaf_of(before, l);
      if (leaf == nullptr || leaf == laters || leaf == befores) continue;
      extent.table_bytes += sizeof(Leaf);
      for (u64 i = 0; i < kFan; ++i) {
        const Page* page = leaf->page[i];
        if (page != nullptr && page != page_of(laters, i) && page != page_of(befores, i)) ++extent.pages;
      }
    }
  }
  return extent;
}

ImageBuilder::ImageBuilder(std::shared_ptr<PagePool> pool, u64 pages)
    : pool_(std::move(pool)), pages_(pages), root_((pages + kPagesPerMid - 1) / kPagesPerMid) {}

ImageBuilder::ImageBuilder(std::shared_ptr<const MemoryImage> base)
    : pool_(base->pool()), pages_(base->pages()), root_(base->root()), base_(std::move(base)) {
  for (Mid* mid : root_) {
    if (mid != nullptr) mid->keep();
  }
}

ImageBuilder::~ImageBuilder() {
  drop_all(root_);
}

void ImageBuilder::put(u64 number, Page* page) {
  Mid* mid = private_node(root_[mid_index(number)], *pool_);
  Leaf* leaf = private_node(mid->leaf[leaf_index(number)], *pool_);
  Page* old = std::exchange(leaf->page[slot_index(number)], page);
  if (old != nullptr) old->drop();
  leaf->summed.store(false, std::memory_order_relaxed);
}

std::shared_ptr<const MemoryImage> ImageBuilder::finish(MemoryKind kind) {
  auto image = std::make_shared<const MemoryImage>(pool_, pages_, std::exchange(root_, {}), kind);
  image->flat_slot().base = std::move(base_);
  return image;
}

}  // namespace shinken
