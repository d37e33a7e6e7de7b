#pragma once
// Host files: a read-only mapping and an owned descriptor.
#include <memory>
#include <span>
#include <string>

#include "monitor/base/types.h"

namespace shinken {

/// A file descriptor with one owner.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int fd) : fd_(fd) {}
  FileHandle(FileHandle&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle() { reset(); }
  int get() const { return fd_; }
  void reset();

 private:
  int fd_ = -1;
};

/// A regular file mapped privately and read-only. A file that another process shortens while it is mapped
/// ends the process (SIGBUS); images and goldens are replaced by rename, never in place.
class MappedFile {
 public:
  /// Throws MonitorError kFile.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  /// As `open`, but one mapping for all present users of the same inode.
  static std::shared_ptr<const MappedFile> open_shared(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const u8> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const u8* data, u64 size) : data_(data), size_(size) {}
  static std::shared_ptr<const MappedFile> map(const FileHandle& file, const std::string& path);
  const u8* data_;
  u64 size_;
};

/// "<doing> <path>: <strerror of errno>" as a MonitorError kFile.
[[noreturn]] void throw_file_error(const char* doing, const std::string& path);

}  // namespace shinken
