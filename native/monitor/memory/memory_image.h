#pragma once
// A frozen memory: the root that a golden and its forks share.
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "monitor/memory/guest_memory.h"
#include "monitor/memory/page_table.h"

namespace shinken {

class FlatImage;

/// Host memory that an image reaches: guest pages, and the nodes of the tree that lead to them.
struct ImageExtent {
  u64 pages = 0;
  u64 table_bytes = 0;
  u64 bytes() const { return (pages << kPageShift) + table_bytes; }
};

/// Immutable; safe to read from any thread.
class MemoryImage {
 public:
  /// Takes over one reference of each node in `root`.
  MemoryImage(std::shared_ptr<PagePool> pool, u64 pages, std::vector<Mid*> root,
              MemoryKind kind = MemoryKind::kSoft);
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
  /// Null: the zero page.
  Page* find(u64 number) const;
  /// Pages that another image of the same family and size has otherwise, in order of number; `page` is this
  /// one's, null for the zero page. Costs what differs.
  void for_each_difference(const MemoryImage& other,
                           const std::function<void(u64 number, Page* page)>& visit) const;
  /// What this image reaches and neither of two others of the same size does; a null one reaches nothing.
  /// Costs what differs from `next`.
  ImageExtent beyond(const MemoryImage* next, const MemoryImage* base) const;

  /// The memory that it was frozen from, and that its forks have if nothing else is said.
  MemoryKind kind() const { return kind_; }
  /// The place of the flat copy that forks by `MapMemory` map; FlatImage guards it.
  struct FlatSlot {
    std::mutex mutex;
    std::shared_ptr<FlatImage> flat;
    std::shared_ptr<const MemoryImage> base;  // while there is none: whose flat copy would do
    u64 copied = 0;           // pages that forks had to copy since the flat copy differs from this image
    std::vector<u32> wanted;  // pages to fill ahead as soon as there is a flat copy
  };
  FlatSlot& flat_slot() const { return flat_slot_; }
  /// Another image of the same pages.
  std::shared_ptr<const MemoryImage> twin(MemoryKind kind) const;

 private:
  std::shared_ptr<PagePool> pool_;
  u64 pages_;
  std::vector<Mid*> root_;
  MemoryKind kind_;
  mutable FlatSlot flat_slot_;
};

/// Builds an image page by page, for loaders.
class ImageBuilder {
 public:
  ImageBuilder(std::shared_ptr<PagePool> pool, u64 pages);
  /// Begins with what another image has, and shares it. Forks with flat memory map that one's flat copy, too.
  explicit ImageBuilder(std::shared_ptr<const MemoryImage> base);
  ~ImageBuilder();
  /// Takes over the caller's reference; null for the zero page. SAFETY: `number < pages`, each number once.
  void put(u64 number, Page* page);
  std::shared_ptr<const MemoryImage> finish(MemoryKind kind = MemoryKind::kSoft);

 private:
  std::shared_ptr<PagePool> pool_;
  u64 pages_;
  std::vector<Mid*> root_;
  std::shared_ptr<const MemoryImage> base_;
};

}  // namespace shinken
