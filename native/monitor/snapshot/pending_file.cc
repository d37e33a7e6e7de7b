#include "monitor/snapshot/pending_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "monitor/base/error.h"

namespace shinken {

PendingFile::PendingFile(const std::string& path) : path_(path) {
  // Unique in this process and among processes; O_EXCL settles the rest.
  static std::atomic<u32> serial{0};
  temporary_ = path + ".tmp." + std::to_string(getpid()) + "." + std::to_string(serial.fetch_add(1));
  file_ = FileHandle(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file_.get() < 0) throw_file_error("cannot create", temporary_);
}

PendingFile::~PendingFile() {
  if (!committed_) ::unlink(temporary_.c_str());
}

void PendingFile::write(std::span<const u8> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_file_error("cannot write", temporary_);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void PendingFile::seek(u64 at) {
  if (::lseek(file_.get(), static_cast<off_t>(at), SEEK_SET) < 0)
    throw_file_error("cannot seek in", temporary_);
}

void PendingFile::commit() {
  if (fsync(file_.get()) != 0) throw_file_error("cannot sync", temporary_);
  file_.reset();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw_file_error("cannot rename to", path_);
  committed_ = true;
  // The name itself must survive a power cut, too.
  const auto slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  FileHandle parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() >= 0) fsync(parent.get());
}

}  // namespace shinken
