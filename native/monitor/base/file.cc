#include "monitor/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "monitor/base/error.h"

namespace shinken {

void throw_file_error(const char* doing, const std::string& path) {
  const int code = errno;
  throw MonitorError(ErrorKind::kFile, std::string(doing) + " " + path + ": " + std::strerror(code));
}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.fd_;
    other.fd_ = -1;
  }
  return *this;
}

void FileHandle::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::shared_ptr<const MappedFile> MappedFile::map(const FileHandle& file, const std::string& path) {
  struct stat info;
  if (fstat(file.get(), &info) != 0) throw_file_error("cannot stat", path);
  if (!S_ISREG(info.st_mode)) throw MonitorError(ErrorKind::kFile, path + " is not a regular file");
  const u64 size = static_cast<u64>(info.st_size);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile(nullptr, 0));
  // SAFETY: the mapping is private and read-only and lives exactly as long as the object.
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) throw_file_error("cannot map", path);
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const u8*>(data), size));
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw_file_error("cannot open", path);
  return map(file, path);
}

std::shared_ptr<const MappedFile> MappedFile::open_shared(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw_file_error("cannot open", path);
  struct stat info;
  if (fstat(file.get(), &info) != 0) throw_file_error("cannot stat", path);
  // A cache of weak references, not state: it only finds mappings that somebody holds anyway.
  using Key = std::tuple<u64, u64, u64, u64, u64>;
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<const MappedFile>> present;
  const Key key{static_cast<u64>(info.st_dev), static_cast<u64>(info.st_ino), static_cast<u64>(info.st_size),
                static_cast<u64>(info.st_mtim.tv_sec), static_cast<u64>(info.st_mtim.tv_nsec)};
  std::lock_guard lock(mutex);
  std::erase_if(present, [](const auto& entry) { return entry.second.expired(); });
  if (auto found = present.find(key); found != present.end()) {
    if (auto held = found->second.lock()) return held;
  }
  auto mapped = map(file, path);
  present[key] = mapped;
  return mapped;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<u8*>(data_), size_);
}

}  // namespace shinken
