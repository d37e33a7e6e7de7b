#pragma once
// The host side of a virtio block device.
#include <memory>
#include <span>
#include <string>

#include "monitor/base/file.h"

namespace shinken {

inline constexpr u64 kSectorBytes = 512;
inline constexpr u64 kMaxDiskIdentity = 64;

/// A disk's content. A read-only one is a mapping that all machines of the process share; a writable one is a
/// file that one machine owns.
class DiskFile {
 public:
  /// Throws MonitorError kFile, or kInvalidConfig for an identity that is too long.
  static std::shared_ptr<DiskFile> open(const std::string& path, const std::string& identity, bool writable);

  u64 size() const { return size_; }  // bytes, a multiple of kSectorBytes
  bool writable() const { return writable_; }
  const std::string& identity() const { return identity_; }
  /// SAFETY of the three: offset + length <= size() is the caller's duty. False: the host reported an error.
  bool read(u64 offset, std::span<u8> to) const;
  bool write(u64 offset, std::span<const u8> from);
  bool flush();

 private:
  DiskFile() = default;
  std::shared_ptr<const MappedFile> mapped_;
  FileHandle file_;
  u64 size_ = 0;
  bool writable_ = false;
  std::string identity_;
};

}  // namespace shinken
