#pragma once
// A golden's memory in one piece: an unnamed file in memory that forks map privately. Forks of an image whose
// pages differ a little from an existing flat one map that, and copy what differs. The flat image of a golden
// on disk begins cold, without content, and its pages are filled when forks touch them, once for all forks.
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "monitor/base/file.h"
#include "monitor/memory/memory_image.h"
#include "monitor/memory/page_set.h"

namespace shinken {

class Userfault;

class FlatImage {
 public:
  /// The flat image that a fork of `image` maps: the one that it descends from, or one of its own as soon as
  /// the pages copied for its forks outweigh it. Throws kNoMemory.
  static std::shared_ptr<FlatImage> of(const MemoryImage& image);
  /// The same memory, with its pages in a flat image of its own instead of in a pool. Throws kNoMemory.
  static std::shared_ptr<const MemoryImage> flattened(const MemoryImage& image);
  /// For a golden on disk: pages to fill ahead, in this order, and then the rest; numbers that make no sense
  /// are passed over. Begins with the first fork by `MapMemory`.
  static void prefetch(const MemoryImage& image, std::vector<u32> order);
  /// The pages that forks touched while they were not filled, in that order; what `prefetch` wants next time.
  static std::vector<u32> touched(const MemoryImage& image);
  ~FlatImage();
  FlatImage(const FlatImage&) = delete;
  FlatImage& operator=(const FlatImage&) = delete;

  int file() const;
  /// What the file holds, or will hold when it is complete.
  const MemoryImage& content() const { return *content_; }
  /// Pages that it stores.
  u64 stored() const;
  /// False as long as pages have to be filled at their first touch.
  bool complete() const { return complete_.load(std::memory_order_acquire); }
  /// Fills a page, and what is near it, unless it is; for the thread that answers faults.
  void touch(u64 page);
  /// Fills all.
  void complete_now();
  /// Bytes in pages of 2 MiB, when it was made.
  u64 huge() const;

 private:
  explicit FlatImage(u64 pages);
  void fill(const MemoryImage& image);
  void fill_one(u64 page);  // with `mutex_` held
  void start_prefetch(std::vector<u32> order);

  struct File;
  /// Held, so that a fork after a time without any need not open it again.
  const std::shared_ptr<Userfault> faults_;
  std::shared_ptr<File> file_;
  u64 pages_;
  std::shared_ptr<const MemoryImage> content_;
  std::atomic<bool> complete_{false}, stop_{false};
  std::mutex mutex_;  // guards what follows
  PageSet filled_;
  std::vector<u32> touched_;
  std::thread ahead_;
};

}  // namespace shinken
