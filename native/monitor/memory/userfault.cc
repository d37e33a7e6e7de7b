#include "monitor/memory/userfault.h"

#include "monitor/base/error.h"

#ifdef __linux__
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>
#include <vector>

#include "monitor/memory/host_mapping.h"
#include "monitor/memory/linux_faults.h"

namespace shinken {

using namespace linux_faults;

namespace {

constexpr u64 kNeeded =
    UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_MISSING_SHMEM | kFeatureWriteProtectShmem;

[[noreturn]] void refuse(const std::string& what) {
  throw MonitorError(ErrorKind::kHostUnsupported, what);
}

u64 address_of(const u8* at) {
  return reinterpret_cast<u64>(at);
}

/// A descriptor without an API yet. In the order in which they can do more: faults of the kernel are
/// answered, too, by the first two only.
FileHandle open_descriptor() {
  constexpr int kFlags = O_CLOEXEC | O_NONBLOCK;
  int fd = static_cast<int>(syscall(SYS_userfaultfd, kFlags));
  const int why = errno;
  if (fd < 0) {
    FileHandle device(::open("/dev/userfaultfd", O_RDWR | O_CLOEXEC));
    if (device.get() >= 0) fd = ioctl(device.get(), kDeviceNew, kFlags);
  }
  if (fd < 0) fd = static_cast<int>(syscall(SYS_userfaultfd, kFlags | kUserModeOnly));
  if (fd >= 0) return FileHandle(fd);
  refuse(std::string("this host forbids userfaultfd (") + std::strerror(why) +
         "): set vm.unprivileged_userfaultfd=1, give access to /dev/userfaultfd, or use soft memory");
}

/// Asks for features; 0 on refusal.
u64 begin_api(const FileHandle& file, u64 features) {
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = features;
  return ioctl(file.get(), UFFDIO_API, &api) == 0 ? api.features | 1 << 31 : 0;
}

FileHandle open_with(u64 features) {
  FileHandle file = open_descriptor();
  if (begin_api(file, features) == 0) refuse("this kernel's userfaultfd has not what it says it has");
  return file;
}

bool register_range(const FileHandle& file, u8* at, u64 bytes, u64 mode) {
  uffdio_register range{};
  range.range = {address_of(at), bytes};
  range.mode = mode;
  return ioctl(file.get(), UFFDIO_REGISTER, &range) == 0;
}

}  // namespace

Userfault::Userfault() : process_(getpid()) {
  const u64 offered = begin_api(open_descriptor(), 0);
  if (offered == 0) refuse("this kernel's userfaultfd speaks another API");
  serves_ = (offered & kNeeded) == kNeeded;
  const u64 async = kNeeded | kFeatureAsync | kFeatureWriteProtectUnpopulated;
  scans_ = (offered & async) == async;
  descriptor_ = open_with(scans_ ? async : serves_ ? kNeeded : 0);
  pagemap_ = FileHandle(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (pagemap_.get() < 0) scans_ = false;
  if (scans_) {
    PageScan probe{};
    probe.size = sizeof probe;
    scans_ = ioctl(pagemap_.get(), kPagemapScan, &probe) >= 0;
  }
}

std::shared_ptr<Userfault> Userfault::shared() {
  // A weak reference, not state: it only finds what a memory holds anyway.
  static std::mutex mutex;
  static std::weak_ptr<Userfault> present;
  std::lock_guard lock(mutex);
  auto held = present.lock();
  // After fork(2) the descriptor is still the parent's.
  if (held && held->process_ == getpid()) return held;
  held.reset(new Userfault());
  present = held;
  return held;
}

Userfault::~Userfault() {
  if (!handler_.joinable()) return;
  if (process_ != getpid()) {
    // The thread is the parent's.
    handler_.detach();
    return;
  }
  stopping_.store(true);
  wake_handler();
  handler_.join();
}

bool Userfault::add(u8* at, u64 bytes) {
  return serves_ && register_range(descriptor_, at, bytes, UFFDIO_REGISTER_MODE_WP);
}

void Userfault::add_missing(u8* at, u64 bytes, FaultServer* server) {
  {
    std::lock_guard lock(mutex_);
    start_handler();
    ranges_[at] = {bytes, server};
  }
  if (register_range(descriptor_, at, bytes, UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP)) return;
  remove(at);
  refuse(std::string("the kernel does not hand out missing pages (") + std::strerror(errno) + ")");
}

void Userfault::remove(u8* at) {
  std::lock_guard lock(mutex_);
  ranges_.erase(at);
}

void Userfault::add_target(u8* at, u64 bytes) {
  if (register_range(descriptor_, at, bytes, UFFDIO_REGISTER_MODE_MISSING)) return;
  refuse(std::string("the kernel does not fill pages of memory files (") + std::strerror(errno) + ")");
}

void Userfault::fill(u8* to, const u8* from, u64 bytes) {
  // A write to the file would not do: from a page that is not mapped yet it copies nothing at first, and what
  // it leaves until it tries again is a page of zeros that others can see.
  uffdio_copy request{};
  request.dst = address_of(to);
  request.src = address_of(from);
  request.len = bytes;
  while (ioctl(descriptor_.get(), UFFDIO_COPY, &request) != 0) {
    if (errno == EAGAIN || errno == EINTR) continue;
    throw MonitorError(ErrorKind::kNoMemory,
                       std::string("the host refused memory for a golden: ") + std::strerror(errno));
  }
}

void Userfault::copy(u8* to, const u8* from, u64 bytes) {
  while (bytes > 0) {
    uffdio_copy request{};
    request.dst = address_of(to);
    request.src = address_of(from);
    request.len = bytes;
    if (ioctl(descriptor_.get(), UFFDIO_COPY, &request) == 0) return;
    if (request.copy > 0) {
      const u64 done = static_cast<u64>(request.copy);
      to += done, from += done, bytes -= done;
      continue;
    }
    if (errno == EAGAIN) continue;
    // There is one already, or the kernel takes no such copy: a plain write does the same.
    std::memcpy(to, from, bytes);
    return;
  }
}

void Userfault::scan_written(u8* at, u64 bytes, const std::function<void(u64, u64)>& visit) {
  PageRegion found[128];
  PageScan scan{};
  scan.size = sizeof scan;
  scan.flags = kScanProtectMatching | kScanCheckAsync;
  scan.start = address_of(at);
  scan.end = scan.start + bytes;
  scan.vec = reinterpret_cast<u64>(found);
  scan.vec_len = std::size(found);
  // A registered page that was never armed counts as written, hence "and not of the file"; a written page may
  // have gone to swap.
  scan.category_inverted = kPageIsFile;
  scan.category_mask = kPageIsWritten | kPageIsFile;
  scan.category_anyof_mask = kPageIsPresent | kPageIsSwapped;
  scan.return_mask = kPageIsWritten;
  while (scan.start < scan.end) {
    const int count = ioctl(pagemap_.get(), kPagemapScan, &scan);
    if (count < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      throw MonitorError(ErrorKind::kNoMemory,
                         std::string("the scan for written pages failed: ") + std::strerror(errno));
    }
    for (int i = 0; i < count; ++i) {
      visit((found[i].start - address_of(at)) >> kPageShift, (found[i].end - found[i].start) >> kPageShift);
    }
    scan.start = scan.walk_end;
  }
}

void Userfault::scan_private(u8* at, u64 bytes, const std::function<void(u64, u64)>& visit) {
  constexpr u64 kPresent = u64{1} << 63, kSwapped = u64{1} << 62, kFile = u64{1} << 61;
  u64 entries[512];
  const u64 pages = bytes >> kPageShift;
  for (u64 first = 0; first < pages;) {
    const u64 wanted = std::min<u64>(std::size(entries), pages - first);
    const off_t from = static_cast<off_t>((address_of(at) >> kPageShift) + first) * 8;
    const ssize_t got = pread(pagemap_.get(), entries, wanted * 8, from);
    if (got < 8) throw MonitorError(ErrorKind::kNoMemory, "the page map cannot be read");
    const u64 count = static_cast<u64>(got) / 8;
    for (u64 i = 0; i < count; ++i) {
      if ((entries[i] & (kPresent | kSwapped)) != 0 && (entries[i] & kFile) == 0) visit(first + i, 1);
    }
    first += count;
  }
}

void Userfault::begin_protect(u8* at, u64 bytes, FaultServer* server) {
  uffdio_range range{address_of(at), bytes};
  {
    std::lock_guard lock(mutex_);
    start_handler();
    if (synchronous_.get() < 0) {
      synchronous_ = open_with(kNeeded | kFeatureWriteProtectUnpopulated);
      wake_handler();
    }
    ranges_[at] = {bytes, server};
    // A range belongs to one descriptor at a time.
    ioctl(descriptor_.get(), UFFDIO_UNREGISTER, &range);
    if (register_range(synchronous_, at, bytes, UFFDIO_REGISTER_MODE_WP)) return;
  }
  remove(at);
  add(at, bytes);
  refuse(std::string("the kernel does not protect these pages (") + std::strerror(errno) + ")");
}

void Userfault::protect(u8* at, u64 bytes, bool on) {
  uffdio_writeprotect request{};
  request.range = {address_of(at), bytes};
  request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
  while (ioctl(synchronous_.get(), UFFDIO_WRITEPROTECT, &request) != 0) {
    if (errno == EAGAIN || errno == EINTR) continue;
    // The protection has ended meanwhile.
    if (!on) return;
    throw MonitorError(ErrorKind::kNoMemory,
                       std::string("pages cannot be protected: ") + std::strerror(errno));
  }
}

void Userfault::end_protect(u8* at, u64 bytes) {
  // Lifts what protection is left; `answer` wakes who still waits.
  uffdio_range range{address_of(at), bytes};
  ioctl(synchronous_.get(), UFFDIO_UNREGISTER, &range);
  remove(at);
  add(at, bytes);
}

void Userfault::start_handler() {
  if (handler_.joinable()) return;
  wake_ = FileHandle(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake_.get() < 0) throw MonitorError(ErrorKind::kNoMemory, "the host refused an event descriptor");
  try {
    handler_ = std::thread([this] { handle(); });
  } catch (const std::system_error&) {
    throw MonitorError(ErrorKind::kNoMemory, "the host refused a thread for faults");
  }
}

void Userfault::wake_handler() {
  // Only a counter at its end would refuse it, and the handler has that to read.
  const u64 one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

void Userfault::handle() {
  for (;;) {
    int synchronous = -1;
    {
      std::lock_guard lock(mutex_);
      synchronous = synchronous_.get();
    }
    // The second descriptor comes with the first snapshot, which wakes us; until then poll passes over it.
    pollfd wait[3] = {{wake_.get(), POLLIN, 0}, {descriptor_.get(), POLLIN, 0}, {synchronous, POLLIN, 0}};
    if (poll(wait, std::size(wait), -1) < 0 && errno != EINTR) return;
    if ((wait[0].revents & POLLIN) != 0) {
      u64 times;
      [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &times, sizeof times);
      if (stopping_.load()) return;
    }
    if ((wait[1].revents & POLLIN) != 0) answer(descriptor_.get());
    if ((wait[2].revents & POLLIN) != 0) answer(synchronous);
  }
}

void Userfault::answer(int descriptor) {
  uffd_msg message;
  while (::read(descriptor, &message, sizeof message) == sizeof message) {
    if (message.event != UFFD_EVENT_PAGEFAULT) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel hands out addresses as numbers.
    u8* at = reinterpret_cast<u8*>(message.arg.pagefault.address & ~kPageMask);
    serve(at, (message.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP) != 0);
    // Whatever came of it: who waits looks again. The kernel does not wake those that wait for a protection
    // to be lifted when their range leaves its descriptor before we come to their message.
    uffdio_range page{address_of(at), kPageSize};
    ioctl(descriptor, UFFDIO_WAKE, &page);
  }
}

void Userfault::serve(u8* at, bool is_protected) {
  // Locked while it is answered, so that `remove` returns when nobody works on the range any more.
  std::lock_guard lock(mutex_);
  auto range = ranges_.upper_bound(at);
  if (range == ranges_.begin()) return;
  --range;
  if (at >= range->first + range->second.bytes) return;
  if (is_protected) {
    range->second.server->on_protected(at);
  } else {
    range->second.server->on_missing(at);
  }
}

FileHandle make_memory_file(u64 bytes) {
  FileHandle file(memfd_create("shinken-golden", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0 || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    throw MonitorError(ErrorKind::kNoMemory,
                       std::string("the host refused memory for a golden: ") + std::strerror(errno));
  }
  return file;
}

void seal_memory_file(const FileHandle& file, bool content) {
  fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | (content ? F_SEAL_WRITE : 0));
}

void ask_for_huge_pages(u8* at, u64 bytes) {
  madvise(at, bytes, MADV_HUGEPAGE);
}

u64 huge_bytes(const u8* at, u64 bytes) {
  FileHandle pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  PageRegion found[128];
  PageScan scan{};
  scan.size = sizeof scan;
  scan.start = address_of(at);
  scan.end = scan.start + bytes;
  scan.vec = reinterpret_cast<u64>(found);
  scan.vec_len = std::size(found);
  scan.category_mask = scan.return_mask = kPageIsHuge;
  u64 sum = 0;
  while (scan.start < scan.end) {
    const int count = ioctl(pagemap.get(), kPagemapScan, &scan);
    if (count < 0) return sum;
    for (int i = 0; i < count; ++i) sum += found[i].end - found[i].start;
    scan.start = scan.walk_end;
  }
  return sum;
}

bool host_grants_huge_pages() {
  const FileHandle file = make_memory_file(kHugeBytes);
  u8* at = map_host(file.get(), kHugeBytes, PROT_READ | PROT_WRITE, MAP_SHARED, true);
  ask_for_huge_pages(at, kHugeBytes);
  *at = 1;
  const bool granted = huge_bytes(at, kHugeBytes) > 0;
  munmap(at, kHugeBytes);
  return granted;
}

}  // namespace shinken

#else

namespace shinken {

namespace {
[[noreturn]] void refuse() {
  throw MonitorError(ErrorKind::kHostUnsupported, "flat memory needs Linux: use soft memory");
}
}  // namespace

Userfault::Userfault() : process_(0) {}
Userfault::~Userfault() = default;
std::shared_ptr<Userfault> Userfault::shared() {
  refuse();
}
bool Userfault::add(u8*, u64) {
  return false;
}
void Userfault::add_missing(u8*, u64, FaultServer*) {
  refuse();
}
void Userfault::remove(u8*) {}
void Userfault::add_target(u8*, u64) {
  refuse();
}
void Userfault::fill(u8*, const u8*, u64) {}
void Userfault::copy(u8*, const u8*, u64) {}
void Userfault::scan_written(u8*, u64, const std::function<void(u64, u64)>&) {}
void Userfault::scan_private(u8*, u64, const std::function<void(u64, u64)>&) {}
void Userfault::begin_protect(u8*, u64, FaultServer*) {
  refuse();
}
void Userfault::end_protect(u8*, u64) {}
void Userfault::protect(u8*, u64, bool) {}
FileHandle make_memory_file(u64) {
  refuse();
}
void seal_memory_file(const FileHandle&, bool) {}
void ask_for_huge_pages(u8*, u64) {}
bool host_grants_huge_pages() {
  return false;
}
u64 huge_bytes(const u8*, u64) {
  return 0;
}

}  // namespace shinken

#endif
