#pragma once
// A frozen memory: the root that a golden and its forks share.
#include <functional>
#include <memory>
#include <vector>

#include "monitor/memory/page_table.h"

namespace shinken {

/// Immutable; safe to read from any thread.
class MemoryImage {
 public:
  /// Takes over one reference of each node in `root`.
  MemoryImage(std::shared_ptr<PagePool> pool, u64 pages, std::vector<Mid*> root);
  ~MemoryImage();
  MemoryImage(const MemoryImage&) = delete;
  MemoryImage& operator=(const MemoryImage&) = delete;

  u64 pages() const { return pages_; }
  const std::vector<Mid*>& root() const { return root_; }
  const std::shared_ptr<PagePool>& pool() const { return pool_; }
  /// Multiset hash of the content; hashes what has no cached hash yet.
  Digest sum() const;
  /// Pages that are not the shared zero page, in order of number.
  void for_each_page(const std::function<void(u64 number, Page& page)>& visit) const;
  u64 stored_pages() const;

 private:
  std::shared_ptr<PagePool> pool_;
  u64 pages_;
  std::vector<Mid*> root_;
};

/// Builds an image page by page, for loaders.
class ImageBuilder {
 public:
  ImageBuilder(std::shared_ptr<PagePool> pool, u64 pages);
  ~ImageBuilder();
  /// Takes over the caller's reference. SAFETY: `number < pages`, each number once.
  void put(u64 number, Page* page);
  std::shared_ptr<const MemoryImage> finish();

 private:
  std::shared_ptr<PagePool> pool_;
  u64 pages_;
  std::vector<Mid*> root_;
};

}  // namespace shinken
