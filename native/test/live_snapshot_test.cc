// Snapshots of machines that go on while they are taken.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "monitor/base/error.h"
#include "monitor/machine/machine_impl.h"
#include "monitor/snapshot/golden_impl.h"
#include "test/support/flat_memory.h"
#include "test/support/host_limits.h"
#include "test/support/patching.h"
#include "test/support/sanitized.h"

using namespace shinken;
using namespace shinken::test;

namespace {

/// Until the thread waits in the kernel.
void await_sleep(pid_t id) {
  for (char state = 'R'; state == 'R';) {
    std::ifstream file("/proc/self/task/" + std::to_string(id) + "/stat");
    std::string line;
    std::getline(file, line);
    state = line.at(line.rfind(')') + 2);
    std::this_thread::yield();
  }
}

/// How often it went to sleep.
std::string sleeps(pid_t id) {
  std::ifstream file("/proc/self/task/" + std::to_string(id) + "/status");
  std::string line;
  while (std::getline(file, line) && line.find("voluntary_ctxt_switches") != 0) {
  }
  return line;
}

/// Memory of the test's own, without content.
struct Room {
  ~Room() { munmap(at, kPageSize); }
  u8* at =
      static_cast<u8*>(mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

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
    await_sleep(id);
  }
  std::atomic<pid_t> id{0};
  std::thread thread;
};

}  // namespace

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
      faults.add(at, kPageSize);
      *at = 1;
      faults.begin_protect(at, kPageSize, server);
      faults.protect(at, kPageSize, true);
    }
    void end() { faults.end_protect(at, kPageSize); }
    Userfault& faults;
    Room room;
    u8* const at = room.at;
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

MAP_TEST_CASE("a snapshot that the host has no memory for fails, and its machine goes on") {
  // A sanitizer needs mappings of its own at that moment.
  if (kSanitized || !host_has(&Userfault::has_scan)) return;
  TempDir dir;
  MachineConfig config;
  config.program = dir.write("program.bin", patching_program(3));
  config.memory_mib = kMinMemoryMiB;
  config.memory = MemoryKind::kMap;
  RunRequest stage;
  stage.max_instructions = 3000;
  auto machine = Machine::create(config);
  auto twin = Machine::create(config);
  machine->run(stage), twin->run(stage);
  MachineMemory& memory = *Machine::impl_of(*machine)->memory;
  // Every page that the pool has is taken, so that the next one has to come from the host.
  const auto pool = machine->freeze()->impl().image->pool();
  machine->run(stage), twin->run(stage);
  std::vector<Page*> taken;
  while (pool->stats().live_pages < pool->stats().mapped_pages || taken.empty())
    taken.push_back(pool->take());
  u64 written = ~u64{0};
  memory.for_each_dirty([&](u64 page) { written = page; });
  REQUIRE(written != ~u64{0});
  auto snapshot = Machine::snapshot(machine);
  {
    const NoMoreMappings limit;
    // A write that waits for its page to be copied.
    volatile u8* at = memory.page_for_write(written);
    *at = *at;
  }
  machine->run(stage), twin->run(stage);
  for (Page* page : taken) page->drop();
  std::string said;
  try {
    snapshot->finish();
  } catch (const MonitorError& error) {
    said = error.what();
  }
  CHECK(said == "no_memory: the host refused memory for a live snapshot");
  // Its owner may try again.
  CHECK(machine->digest() == twin->digest());
  CHECK(Machine::snapshot(machine)->finish()->digest() == twin->digest());
  machine->close();
}

MAP_TEST_CASE("whoever answers faults sleeps until there is one, also of a snapshot that begins meanwhile") {
  if (!host_has(&Userfault::has_scan)) return;
  const auto faults = Userfault::shared();
  struct Server final : FaultServer {
    explicit Server(Userfault& faults) : faults(faults) {}
    void on_missing(u8* at) override {
      id = static_cast<pid_t>(syscall(SYS_gettid));
      const std::vector<u8> content(kPageSize, 5);
      faults.copy(at, content.data(), kPageSize);
    }
    void on_protected(u8* at) override {
      ++asked;
      faults.protect(at, kPageSize, false);
    }
    Userfault& faults;
    std::atomic<pid_t> id{0};
    std::atomic<int> asked{0};
  } server(*faults);
  Room cold, live;
  faults->add(live.at, kPageSize);
  *live.at = 1;
  faults->add_missing(cold.at, kPageSize, &server);
  CHECK(*cold.at == 5);
  REQUIRE(server.id != 0);
  await_sleep(server.id);
  const std::string before = sleeps(server.id);
  CHECK(before.size() > 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(sleeps(server.id) == before);
  faults->begin_protect(live.at, kPageSize, &server);
  faults->protect(live.at, kPageSize, true);
  *live.at = 2;
  CHECK(server.asked == 1);
  faults->end_protect(live.at, kPageSize);
  faults->remove(cold.at);
}
