#pragma once
// The nodes of SoftMemory's table. A radix tree of fan-out 64, not one of large tables: the first write into
// a region copies a node of 512 bytes and touches 64 counters, so that a child with a hundred scattered dirty
// pages costs tens of microseconds. A node that two parents reach is immutable.
#include <atomic>

#include "monitor/memory/page_pool.h"

namespace shinken {

inline constexpr u64 kFan = 64;
inline constexpr u64 kFanShift = 6;
inline constexpr u64 kPagesPerMid = kFan * kFan;

/// 64 pages (256 KiB of RAM). A null page is the zero page.
struct Leaf {
  explicit Leaf(PagePool& pool) : pool(pool) { pool.count_table(1); }
  ~Leaf() { pool.count_table(-1); }
  PagePool& pool;
  std::atomic<u32> refs{1};
  u64 dirty = 0;  // bit i: page i was handed out for writing since the last freeze; implies a private path
  // Sum of the shares (see page_share) of the pages that are not dirty, if `summed`.
  std::atomic<bool> summed{true};
  std::atomic<u64> sum_lo{0}, sum_hi{0};
  Page* page[kFan] = {};

  void keep() { refs.fetch_add(1, std::memory_order_relaxed); }
  void drop();
  bool exclusive() const { return refs.load(std::memory_order_acquire) == 1; }
  Leaf* copy() const;
  /// Takes page `i`, number `page_number`, out of the sum. Only on a private leaf, before the page changes.
  void unsum(u64 i, u64 page_number);
  /// The sum, computed if it is not known; `first` is the number of page 0.
  Digest clean_sum(u64 first);
};

/// 64 leaves (16 MiB of RAM). A null leaf is all zero pages.
struct Mid {
  explicit Mid(PagePool& pool) : pool(pool) { pool.count_table(1); }
  ~Mid() { pool.count_table(-1); }
  PagePool& pool;
  std::atomic<u32> refs{1};
  u64 dirty = 0;  // bit i: leaf i has a dirty page
  Leaf* leaf[kFan] = {};

  void keep() { refs.fetch_add(1, std::memory_order_relaxed); }
  void drop();
  bool exclusive() const { return refs.load(std::memory_order_acquire) == 1; }
  Mid* copy() const;
};

/// The node at a place in the tree, reachable from there alone: made, or copied, if need be.
template <typename Node>
Node* private_node(Node*& node, PagePool& pool) {
  if (node == nullptr) {
    node = new Node(pool);
  } else if (!node->exclusive()) {
    Node* twin = node->copy();
    node->drop();
    node = twin;
  }
  return node;
}

inline constexpr u64 mid_index(u64 page) {
  return page >> (2 * kFanShift);
}
inline constexpr u64 leaf_index(u64 page) {
  return page >> kFanShift & (kFan - 1);
}
inline constexpr u64 slot_index(u64 page) {
  return page & (kFan - 1);
}

}  // namespace shinken
