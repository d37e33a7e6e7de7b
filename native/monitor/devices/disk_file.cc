#include "monitor/devices/disk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "monitor/base/error.h"

namespace shinken {

std::shared_ptr<DiskFile> DiskFile::open(const std::string& path, const std::string& identity,
                                         bool writable) {
  if (identity.size() > kMaxDiskIdentity) {
    throw MonitorError(ErrorKind::kInvalidConfig, "a disk's identity has at most 64 bytes");
  }
  std::shared_ptr<DiskFile> disk(new DiskFile());
  disk->identity_ = identity;
  disk->writable_ = writable;
  if (!writable) {
    disk->mapped_ = MappedFile::open_shared(path);
    disk->size_ = disk->mapped_->bytes().size();
  } else {
    disk->file_ = FileHandle(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (disk->file_.get() < 0) throw_file_error("cannot open", path);
    struct stat info;
    if (fstat(disk->file_.get(), &info) != 0) throw_file_error("cannot stat", path);
    if (!S_ISREG(info.st_mode)) throw MonitorError(ErrorKind::kFile, path + " is not a regular file");
    disk->size_ = static_cast<u64>(info.st_size);
  }
  disk->size_ -= disk->size_ % kSectorBytes;
  return disk;
}

bool DiskFile::read(u64 offset, std::span<u8> to) const {
  if (mapped_) {
    std::memcpy(to.data(), mapped_->bytes().data() + offset, to.size());
    return true;
  }
  for (u64 done = 0; done < to.size();) {
    const ssize_t n =
        pread(file_.get(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<u64>(n);
  }
  return true;
}

bool DiskFile::write(u64 offset, std::span<const u8> from) {
  if (!writable_) return false;
  for (u64 done = 0; done < from.size();) {
    const ssize_t n =
        pwrite(file_.get(), from.data() + done, from.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<u64>(n);
  }
  return true;
}

// The file matters only once the build has ended and renamed it, and then the builder syncs it.
bool DiskFile::flush() {
  return true;
}

}  // namespace shinken
