#pragma once
// The process's userfaultfd and what belongs to it: one descriptor for all flat memories, the thread that
// answers faults, and scans for written pages. Linux only; elsewhere `shared` refuses.
//
//   dirty set       asynchronous write-protect: the kernel lifts it by itself, a scan finds and arms it again
//   cold golden     missing faults: the handler's thread fills the page
//   live snapshot   synchronous write-protect, on a second descriptor: the handler's thread copies the page
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "monitor/base/file.h"
#include "monitor/base/types.h"

namespace shinken {

/// Who answers the faults of a range; called on the handler's thread. Whoever waits is woken afterwards.
class FaultServer {
 public:
  virtual ~FaultServer() = default;
  /// A page without content was touched. Has to give it content.
  virtual void on_missing(u8* at) = 0;
  /// A page that was protected is about to be written. Has to lift the protection.
  virtual void on_protected(u8* at) = 0;
};

class Userfault {
 public:
  /// The process's, as long as somebody holds it. Throws MonitorError kHostUnsupported, and says what to set.
  static std::shared_ptr<Userfault> shared();
  ~Userfault();
  Userfault(const Userfault&) = delete;
  Userfault& operator=(const Userfault&) = delete;

  /// True if written pages can be asked for since the last time (Linux 6.7).
  bool has_scan() const { return scans_; }
  /// True if missing and protected pages of flat memories can be answered (Linux 5.19).
  bool can_serve() const { return serves_; }

  /// Registers a range; costs nothing until something is armed. False if this kernel takes no such range.
  bool add(u8* at, u64 bytes);
  /// The same, and missing pages go to `server` until `remove`. Throws kNoMemory, kHostUnsupported, and then
  /// nothing goes there.
  void add_missing(u8* at, u64 bytes, FaultServer* server);
  /// To be called before the range is unmapped if it was added with a server; nobody may touch it any more.
  void remove(u8* at);

  /// Registers a shared mapping of a memory file, so that `fill` can give it pages.
  void add_target(u8* at, u64 bytes);
  /// Gives a page of such a mapping its content: whoever reads the file sees all of it or none. Throws
  /// kNoMemory.
  void fill(u8* to, const u8* from, u64 bytes);
  /// Fills private pages with a copy; for whole pages of an added range that have none yet.
  void copy(u8* to, const u8* from, u64 bytes);

  /// Calls `visit(first, count)` for runs of pages, counted from `at`, that were written since the last scan,
  /// or ever, and arms them again.
  void scan_written(u8* at, u64 bytes, const std::function<void(u64 first, u64 count)>& visit);
  /// The same from the raw page map, for kernels without the scan: pages ever written, each time.
  void scan_private(u8* at, u64 bytes, const std::function<void(u64 first, u64 count)>& visit);

  /// From here until `end_protect`, a write to a page that `protect` was called for waits for `server`. Only
  /// for ranges without missing pages. After it all pages count as written to the next scan.
  void begin_protect(u8* at, u64 bytes, FaultServer* server);
  void end_protect(u8* at, u64 bytes);
  void protect(u8* at, u64 bytes, bool on);

 private:
  struct Range {
    u64 bytes;
    FaultServer* server;
  };
  Userfault();
  void start_handler();
  void handle();
  void answer(int descriptor);
  void serve(u8* at, bool is_protected);

  void wake_handler();

  FileHandle descriptor_, synchronous_, pagemap_;
  FileHandle wake_;  // an event: the handler looks again at what there is to wait for
  bool scans_ = false, serves_ = false;
  std::atomic<bool> stopping_{false};
  int process_;
  std::mutex mutex_;  // guards what follows
  std::map<u8*, Range> ranges_;
  std::thread handler_;
};

/// An unnamed file in memory of this size, all holes. Throws kNoMemory, kHostUnsupported.
FileHandle make_memory_file(u64 bytes);
/// Forbids changes of the file's size and, if wished, of its content.
void seal_memory_file(const FileHandle& file, bool content);

/// Asks for 2 MiB pages; whether they come is the host's business.
void ask_for_huge_pages(u8* at, u64 bytes);
/// True if this host gives them to goldens: one is asked for, touched and looked at. Throws kNoMemory,
/// kHostUnsupported.
bool host_grants_huge_pages();
/// Bytes of a mapped range that lie in huge pages; 0 where the kernel cannot say.
u64 huge_bytes(const u8* at, u64 bytes);

}  // namespace shinken
