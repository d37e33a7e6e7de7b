#include "monitor/memory/map_memory.h"

#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "monitor/base/error.h"
#include "test/support/hostile.h"
#include "test/support/machines.h"
#include "test/support/patching.h"

using namespace shinken;
using namespace shinken::test;

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif
#else
constexpr bool kThreadSanitizer = false;
#endif

namespace {

constexpr u64 kPages = 2 * kPagesPerMid;
constexpr ForkOptions kOnSoft{ForkKind::kGrade, {}, {}, MemoryKind::kSoft};
constexpr ForkOptions kOnMap{ForkKind::kGrade, {}, {}, MemoryKind::kMap};

void put(GuestMemory& memory, u64 page, u8 value) {
  std::memset(memory.page_for_write(page), value, kPageSize);
}

/// An image whose first `count` pages hold something.
std::shared_ptr<const MemoryImage> image_with(u64 count) {
  MapMemory memory(std::make_shared<PagePool>(), kPages);
  for (u64 page = 0; page < count; ++page) put(memory, page, static_cast<u8>(1 + page % 200));
  return memory.freeze();
}

bool host_has(bool (Userfault::*what)() const) {
  return (*Userfault::shared().*what)();
}

/// A thread whose work waits in the kernel.
struct Sleeper {
  template <class Work>
  explicit Sleeper(Work work)
      : thread([this, work] {
          id = static_cast<pid_t>(syscall(SYS_gettid));
          work();
        }) {}
  /// Until it waits.
  void await() const {
    while (id == 0) std::this_thread::yield();
    for (char state = 'R'; state == 'R';) {
      std::ifstream file("/proc/self/task/" + std::to_string(id) + "/stat");
      std::string line;
      std::getline(file, line);
      state = line.at(line.rfind(')') + 2);
      std::this_thread::yield();
    }
  }
  std::atomic<pid_t> id{0};
  std::thread thread;
};

/// A test case that is skipped, with the reason, where the host has no flat memory.
#define MAP_TEST_CASE_(body, name)      \
  static void body();                   \
  TEST_CASE(name) {                     \
    if (host_has_flat_memory()) body(); \
  }                                     \
  static void body()
#define MAP_TEST_CASE(name) MAP_TEST_CASE_(DOCTEST_ANONYMOUS(on_flat_memory_), name)

}  // namespace

MAP_TEST_CASE(
    "a digest hashes what was written since the last one, by pages that were handed out long before") {
  if (!host_has(&Userfault::has_scan)) {
    MESSAGE("skipped: this kernel has no PAGEMAP_SCAN (Linux 6.7)");
    return;
  }
  MapMemory memory(image_with(1000));
  std::vector<u8*> places;
  for (u64 page = 0; page < 100; ++page) {
    places.push_back(memory.page_for_write(page));
    *places.back() = 0xee;
  }
  memory.sum();
  CHECK(memory.paths().scanned_pages == 100);
  memory.sum();
  CHECK(memory.paths().scanned_pages == 100);
  // As a hart does whose translations stand: nobody asks the memory.
  for (u64 page : {3, 4, 50}) places[page][7] = 0xdd;
  const Digest sum = memory.sum();
  CHECK(memory.paths().scanned_pages == 103);
  SoftMemory other(*memory.freeze());
  CHECK(other.sum() == sum);
}

MAP_TEST_CASE("without the scan the raw page map finds the same digests") {
  const auto image = image_with(1000);
  MapMemory scanned(image), raw(image);
  raw.scan_by(WriteScan::kPrivate);
  Random random(7);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 50; ++i) {
      const u64 page = random.below(kPages);
      const u8 value = static_cast<u8>(random.below(3));
      put(scanned, page, value);
      put(raw, page, value);
    }
    REQUIRE(raw.sum() == scanned.sum());
    if (round % 7 == 6) {
      const auto frozen = raw.freeze();
      REQUIRE(frozen->sum() == scanned.freeze()->sum());
      REQUIRE(SoftMemory(*frozen).sum() == raw.sum());
    }
  }
  CHECK(raw.paths().scanned_pages > 0);
}

MAP_TEST_CASE("a page that was handed out and never written is not hashed") {
  for (const WriteScan scan : {WriteScan::kWritten, WriteScan::kPrivate}) {
    if (scan == WriteScan::kWritten && !host_has(&Userfault::has_scan)) continue;
    MapMemory memory(image_with(100));
    memory.scan_by(scan);
    memory.page_for_write(1);
    *memory.page_for_write(2) = 9;
    memory.sum();
    CHECK(memory.paths().scanned_pages == 1);
  }
}

MAP_TEST_CASE("reading and writing pages of zeros leaves the golden's file as it is") {
  const auto image = image_with(10);
  const u64 before = memory_stats().live_pages;
  MapMemory fork(image);
  for (u64 page = 0; page < kPages; ++page) CHECK(fork.page_for_read(page)[5] == (page < 10 ? 1 + page : 0));
  CHECK(memory_stats().live_pages == before);
  put(fork, 5000, 1);
  CHECK(memory_stats().live_pages == before + 1);
}

MAP_TEST_CASE("a fork of a changed fork maps its ancestor's file and copies what was changed") {
  const auto image = image_with(1000);
  MapMemory parent(image);
  for (u64 page : {1, 500, 4000}) put(parent, page, 0xaa);
  const auto changed = parent.freeze();
  CHECK(changed->flat_slot().flat == image->flat_slot().flat);
  const u64 before = memory_stats().live_pages;
  MapMemory child(changed);
  CHECK(memory_stats().live_pages == before + 3);
  CHECK(child.sum() == parent.sum());
  CHECK(child.page_for_read(500)[9] == 0xaa);
}

MAP_TEST_CASE("an image whose forks have copied as much as it holds gets a file of its own") {
  const auto image = image_with(100);
  MapMemory parent(image);
  for (u64 page = 0; page < 40; ++page) put(parent, page, 0xbb);
  const auto changed = parent.freeze();
  const Digest sum = changed->sum();
  for (int i = 0; i < 5; ++i) CHECK(MapMemory(changed).sum() == sum);
  CHECK(changed->flat_slot().flat != image->flat_slot().flat);
  const u64 before = memory_stats().live_pages;
  MapMemory child(changed);
  CHECK(memory_stats().live_pages == before);
}

MAP_TEST_CASE("a memory lives on after its golden, its parent and the golden's file are gone") {
  auto memory = std::make_unique<MapMemory>(image_with(300));
  put(*memory, 2, 77);
  const Digest sum = memory->sum();
  memory = std::make_unique<MapMemory>(memory->freeze());
  CHECK(memory->sum() == sum);
  CHECK(memory->page_for_read(2)[0] == 77);
  CHECK(memory->page_for_read(299)[0] == 1 + 299 % 200);
}

MAP_TEST_CASE("where the host has huge pages for shared memory, dense parts of a golden lie in them") {
  const auto image = image_with(1024);
  const u64 huge = image->flat_slot().flat->huge();
  if (huge == 0) {
    MESSAGE("skipped: no huge pages for shared memory here (shmem_enabled), goldens lie in small ones");
  } else {
    CHECK(huge == 2 * (u64{2} << 20));
  }
  MapMemory fork(image);
  put(fork, 17, 3);
  CHECK(fork.page_for_read(17)[1] == 3);
  CHECK(fork.page_for_read(18)[1] == 19);
  CHECK(MapMemory(image).page_for_read(17)[1] == 18);
}

MAP_TEST_CASE("the same program ends in the same state on both memories, stage by stage") {
  for (u64 seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const bool hostile = seed % 2 == 0;
    TempDir dir;
    MachineConfig config;
    config.program =
        dir.write("program.bin", hostile ? HostileProgram(seed, kProgramOffset >> kPageShift).binary()
                                         : patching_program(seed));
    config.memory_mib = kMinMemoryMiB;
    config.memory = seed % 3 == 0 ? MemoryKind::kSoft : MemoryKind::kMap;
    RunRequest stage;
    stage.max_instructions = 1500;
    auto first = Machine::create(config);
    first->run(stage);
    auto golden = first->freeze();
    auto soft = Machine::fork(golden, kOnSoft), flat = Machine::fork(golden, kOnMap);
    for (int round = 0; round < 6; ++round) {
      soft->run(stage);
      flat->run(stage);
      REQUIRE(soft->digest() == flat->digest());
      if (round == 2) {
        // Code that a flat fork decoded serves later forks of either kind, by where the golden has the pages.
        flat->share_code_with(*golden);
      }
      if (round == 3) {
        soft = Machine::fork(flat->freeze(), kOnSoft);
      }
      if (round == 4) {
        flat = Machine::fork(soft->freeze(), kOnMap);
      }
    }
    for (const ForkOptions& warm : {kOnSoft, kOnMap}) {
      auto late = Machine::fork(golden, warm);
      for (int round = 0; round < 6; ++round) late->run(stage);
      CHECK(late->digest() == soft->digest());
    }
  }
}

MAP_TEST_CASE("forks of a golden on disk fill its file page by page as they touch it, once for all of them") {
  if (!host_has(&Userfault::can_serve)) return;
  TempDir dir;
  std::vector<u32> order;
  Digest expected;
  u64 stored = 0;
  {
    const auto golden = start_echo(dir, 4)->freeze();
    golden->save(dir.file("g"));
    auto soft = Machine::fork(golden, kOnSoft);
    soft->run(ask(1, 9));
    expected = soft->digest();
  }
  const auto before = all_paths();
  {
    const auto golden = Golden::load(dir.file("g"), {{}, GoldenCheck::kIndex});
    stored = golden->stored_pages();
    auto first = Machine::fork(golden, kOnMap);
    CHECK(golden->touched_pages().empty());
    first->run(ask(1, 9));
    CHECK(first->digest() == expected);
    order = golden->touched_pages();
    CHECK(!order.empty());
    CHECK(order.size() < stored);
    CHECK(first->stats().paths.cold_faults == order.size());
    auto second = Machine::fork(golden, kOnMap);
    second->run(ask(1, 9));
    CHECK(second->digest() == expected);
    // A page of the file is filled once.
    CHECK(second->stats().paths.cold_faults == 0);
    // Frozen before all of it was touched, it is a golden like any other.
    CHECK(Machine::fork(second->freeze(), kOnSoft)->digest() == expected);
  }
  CHECK(all_paths().cold_faults - before.cold_faults == order.size());
  CHECK(all_paths().prefetched_pages == before.prefetched_pages);
  const auto golden = Golden::load(dir.file("g"), {{}, GoldenCheck::kIndex});
  // What another file's record may hold does no harm.
  order.push_back(~u32{0});
  golden->prefetch(order);
  auto fork = Machine::fork(golden, kOnMap);
  fork->run(ask(1, 9));
  CHECK(fork->digest() == expected);
  fork->close();
  // Its threads are joined with the golden, whatever they have come to.
  const u64 ahead = all_paths().prefetched_pages - before.prefetched_pages;
  CHECK(ahead <= stored);
}

MAP_TEST_CASE("what is read ahead is not waited for") {
  if (!host_has(&Userfault::can_serve)) return;
  TempDir dir;
  start_echo(dir, 4)->freeze()->save(dir.file("g"));
  const auto golden = Golden::load(dir.file("g"), {{}, GoldenCheck::kIndex});
  golden->prefetch({0});
  const auto before = all_paths();
  auto first = Machine::fork(golden, kOnMap);
  while (all_paths().prefetched_pages - before.prefetched_pages < golden->stored_pages()) {
    std::this_thread::yield();
  }
  first->run(ask(1));
  auto second = Machine::fork(golden, kOnMap);
  second->run(ask(1));
  CHECK(second->digest() == first->digest());
  CHECK(first->stats().paths.cold_faults + second->stats().paths.cold_faults == 0);
}

namespace {

/// Pages of an image whose bytes come only when they are read, as from a disk; at that moment it looks into
/// the file that they are copied to.
class SlowPages final : public PageHome, public FaultServer {
 public:
  SlowPages(std::shared_ptr<Userfault> faults, u64 count)
      : PageHome(false), faults_(std::move(faults)), count_(count), pages_(new Page[count]) {
    void* at =
        mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(at != MAP_FAILED);
    from_ = static_cast<u8*>(at);
    for (u64 i = 0; i < count; ++i) {
      pages_[i].data = from_ + (i << kPageShift);
      pages_[i].home = this;
      pages_[i].refs.store(1);
    }
    faults_->add_missing(from_, bytes(), this);
  }
  ~SlowPages() override {
    faults_->remove(from_);
    munmap(from_, bytes());
  }
  void give_back(Page*) override {}
  bool on_disk() const override { return true; }
  void on_protected(u8*) override {}
  void on_missing(u8* at) override {
    while (file < 0) std::this_thread::yield();
    const u64 place = static_cast<u64>(at - from_);
    // Written each time: the reader's load is the order that the thread sanitizer sees.
    seen_early += in_file(place) ? 1 : 0;
    std::vector<u8> content(kPageSize, value(place >> kPageShift));
    faults_->copy(at, content.data(), kPageSize);
  }
  static u8 value(u64 page) { return static_cast<u8>(1 + page); }
  Page* page(u64 number) { return &pages_[number]; }
  /// False where the kernel's own faults are not handed out: then nobody can play a slow disk.
  bool can_be_read_by_the_kernel() const {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const bool can = write(ends[1], from_ + ((count_ - 1) << kPageShift), 1) == 1;
    close(ends[0]), close(ends[1]);
    return can;
  }

  std::atomic<int> file{-1};
  std::atomic<u64> seen_early{0};

 private:
  u64 bytes() const { return count_ << kPageShift; }
  /// True if whoever maps the file sees something there.
  bool in_file(u64 place) const {
    void* view = mmap(nullptr, kPageSize, PROT_READ, MAP_PRIVATE, file, static_cast<off_t>(place));
    if (view == MAP_FAILED) return false;
    unsigned char seen = 0;
    mincore(view, kPageSize, &seen);
    munmap(view, kPageSize);
    return (seen & 1) != 0;
  }
  std::shared_ptr<Userfault> faults_;
  u64 count_;
  u8* from_ = nullptr;
  std::unique_ptr<Page[]> pages_;
};

}  // namespace

MAP_TEST_CASE("a page of a cold golden is not seen by anybody before all of it is there") {
  if (!host_has(&Userfault::can_serve)) return;
  constexpr u64 kStored = 40;
  SlowPages slow(Userfault::shared(), kStored + 1);
  slow.file = open("/dev/null", O_RDONLY);
  const bool readable = slow.can_be_read_by_the_kernel();
  CHECK(slow.seen_early.load() == 0);
  close(slow.file.exchange(-1));
  if (!readable) return;
  ImageBuilder builder(std::make_shared<PagePool>(), kPages);
  for (u64 page = 0; page < kStored; ++page) builder.put(page, slow.page(page));
  const auto image = builder.finish(MemoryKind::kMap);
  FlatImage::prefetch(*image, {0});
  const auto flat = FlatImage::of(*image);
  slow.file = flat->file();
  while (!flat->complete()) std::this_thread::yield();
  CHECK(slow.seen_early.load() == 0);
  MapMemory fork(image);
  for (u64 page = 0; page < kStored; ++page) CHECK(fork.page_for_read(page)[7] == SlowPages::value(page));
}

TEST_ON_BOTH_MEMORIES(
    "a snapshot shows the moment at which it was begun, whatever the machine does meanwhile") {
  // The handler copies a page that the kernel keeps the machine from writing: an order that the sanitizer
  // cannot see.
  if (kThreadSanitizer && shinken::test::memory_under_test == MemoryKind::kMap) return;
  TempDir dir;
  MachineConfig config;
  config.program = dir.write("program.bin", patching_program(3));
  config.memory_mib = kMinMemoryMiB;
  config.memory = memory_under_test;
  RunRequest stage;
  stage.max_instructions = 3000;
  auto machine = Machine::create(config);
  auto twin = Machine::create(config);
  for (int round = 0; round < 3; ++round) {
    machine->run(stage);
    twin->run(stage);
  }
  const Digest moment = machine->digest();
  // While it runs, before anybody has begun to finish: every write finds its page protected.
  auto snapshot = Machine::snapshot(machine);
  machine->run(stage);
  const auto golden = snapshot->finish();
  twin->run(stage);
  CHECK(golden->digest() == moment);
  CHECK(machine->digest() == twin->digest());
  if (memory_under_test == MemoryKind::kMap && host_has(&Userfault::has_scan)) {
    CHECK(machine->stats().paths.live_faults > 0);
  }
  // At the same time, between two slices of a run.
  machine->begin(stage);
  machine->slice(1000);
  snapshot = Machine::snapshot(machine);
  std::thread hart([&] {
    while (machine->slice(100).state != SliceResult::State::kDone) {
    }
    machine->finish();
  });
  const auto second = snapshot->finish();
  hart.join();
  stage.max_instructions = 1000;
  twin->run(stage);
  CHECK(second->digest() == twin->digest());
  stage.max_instructions = 2000;
  twin->run(stage);
  CHECK(machine->digest() == twin->digest());
  CHECK(Machine::fork(second, kOnMap)->digest() == second->digest());
}

MAP_TEST_CASE("a write that waits for a page to be copied goes on although the snapshot ends before") {
  if (!host_has(&Userfault::has_scan)) return;
  const auto faults = Userfault::shared();
  struct Range {
    explicit Range(Userfault& faults, FaultServer* server) : faults(faults) {
      REQUIRE(at != MAP_FAILED);
      faults.add(at, kPageSize);
      *at = 1;
      faults.begin_protect(at, kPageSize, server);
      faults.protect(at, kPageSize, true);
    }
    ~Range() { munmap(at, kPageSize); }
    void end() { faults.end_protect(at, kPageSize); }
    Userfault& faults;
    u8* at = static_cast<u8*>(
        mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  };
  struct Server final : FaultServer {
    explicit Server(Userfault& faults) : faults(faults) {}
    void on_missing(u8*) override {}
    void on_protected(u8* at) override {
      asked = true;
      while (!may_answer) std::this_thread::yield();
      faults.protect(at, kPageSize, false);
    }
    Userfault& faults;
    std::atomic<bool> asked{false}, may_answer{false};
  } server(*faults);
  Range busy(*faults, &server), ended(*faults, &server);
  std::thread first([&] { *busy.at = 2; });
  while (!server.asked) std::this_thread::yield();
  // The handler is at work: nobody hears of the second write until its range is on the way out.
  Sleeper second([&] { *ended.at = 2; });
  second.await();
  Sleeper end([&] { ended.end(); });
  end.await();
  server.may_answer = true;
  first.join();
  second.thread.join();
  end.thread.join();
  busy.end();
  CHECK(*busy.at == 2);
  CHECK(*ended.at == 2);
}

MAP_TEST_CASE("a machine of which a snapshot is being taken is not closed, and gives none besides") {
  TempDir dir;
  memory_under_test = MemoryKind::kMap;
  auto machine = start_echo(dir, 2);
  memory_under_test = MemoryKind::kSoft;
  if (!host_has(&Userfault::has_scan)) return;
  auto snapshot = Machine::snapshot(machine);
  CHECK_THROWS_AS(machine->close(), MonitorError);
  CHECK_THROWS_AS(Machine::snapshot(machine), MonitorError);
  snapshot.reset();
  CHECK(machine->run(ask(1)).reason == StopReason::kReply);
  machine->close();
}

TEST_CASE("a host that forbids userfaultfd is told of with what to set, and soft memory works there") {
  // In a process of its own: root's rights and the system call are taken from it for good.
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{4, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(3);
    if (getuid() == 0 && setuid(65'534) != 0) _exit(4);
    std::string said;
    try {
      MapMemory memory(std::make_shared<PagePool>(), kPages);
    } catch (const MonitorError& error) {
      said = error.kind() == ErrorKind::kHostUnsupported ? error.what() : "another kind";
    }
    if (write(ends[1], said.data(), said.size()) < 0) _exit(5);
    SoftMemory soft(std::make_shared<PagePool>(), kPages);
    put(soft, 3, 1);
    _exit(soft.sum() != Digest{} ? 0 : 6);
  }
  close(ends[1]);
  char text[512] = {};
  const ssize_t length = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  REQUIRE(length > 0);
  const std::string said = text;
  CHECK(said.find("vm.unprivileged_userfaultfd=1") != std::string::npos);
  CHECK(said.find("soft memory") != std::string::npos);
}
