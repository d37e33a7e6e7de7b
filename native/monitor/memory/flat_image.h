#pragma once
// A golden's memory in one piece: an unnamed file in memory that forks map privately. Forks of an image whose
// pages differ a little from an existing flat one map that, and copy what differs.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "monitor/base/file.h"
#include "monitor/memory/memory_image.h"

namespace shinken {

class Userfault;

class FlatImage {
 public:
  /// The flat image that a fork of `image` maps: the one that it descends from, or one of its own as soon as
  /// the pages copied for its forks outweigh it. Throws kNoMemory.
  static std::shared_ptr<FlatImage> of(const MemoryImage& image);
  /// The same memory, with its pages in a flat image of its own instead of in a pool. Throws kNoMemory.
  static std::shared_ptr<const MemoryImage> flattened(const MemoryImage& image);
  ~FlatImage() = default;
  FlatImage(const FlatImage&) = delete;
  FlatImage& operator=(const FlatImage&) = delete;

  int file() const;
  /// What the file holds, or will hold when it is complete.
  const MemoryImage& content() const { return *content_; }
  /// Pages that it stores.
  u64 stored() const;
  /// Bytes in pages of 2 MiB, when it was made.
  u64 huge() const;

 private:
  explicit FlatImage(u64 pages);
  void fill(const MemoryImage& image);

  struct File;
  std::shared_ptr<File> file_;
  u64 pages_;
  std::shared_ptr<const MemoryImage> content_;
};

}  // namespace shinken
