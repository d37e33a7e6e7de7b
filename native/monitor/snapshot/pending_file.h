#pragma once
// A file that appears whole or not at all.
#include <span>
#include <string>

#include "monitor/base/file.h"

namespace shinken {

/// Under a temporary name beside `path`: renamed by `commit`, else removed. Throws MonitorError kFile.
class PendingFile {
 public:
  explicit PendingFile(const std::string& path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::span<const u8> bytes);
  /// Where the next write goes; what is passed over reads as zeros.
  void seek(u64 at);
  /// Syncs and renames.
  void commit();

 private:
  std::string path_, temporary_;
  FileHandle file_;
  bool committed_ = false;
};

}  // namespace shinken
