// Checkpoints, forks at them, branches and live snapshots of one family, by several threads at a time. What
// each thread does follows from its seed; what is checked holds in whatever order they come.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "monitor/snapshot/checkpoint_log.h"
#include "test/differential/random.h"
#include "test/support/machines.h"
#include "test/support/sanitized.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u64 kWritten = 48;  // pages that the guest writes, one after the other, for ever
constexpr unsigned kThreads = 3, kMachines = 4;
constexpr u64 kBudget = u64{512} << 10;

/// Operations in all; more by the environment.
u64 operations() {
  const char* asked = std::getenv("SHINKEN_CHECKPOINT_OPERATIONS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : kSanitized ? 1500 : 6000;
}

std::shared_ptr<Golden> writer(const TempDir& dir) {
  ScriptGuest guest;
  for (u32 i = 0; i < kWritten; ++i) guest.add32(ScriptGuest::data(0x10000 + i * kPageSize), i + 1);
  guest.jump(0);
  auto machine = start(dir, guest);
  RunRequest request;
  request.max_instructions = 600;
  machine->run(std::move(request));
  return machine->freeze();
}

/// Whatever is wrong, said once by the test's own thread.
class Faults {
 public:
  void require(bool holds, const char* what) {
    if (holds) return;
    const std::lock_guard lock(mutex_);
    ++found_[what];
  }
  std::string text() const {
    std::string all;
    for (const auto& [what, times] : found_) all += std::string(what) + ": " + std::to_string(times) + "; ";
    return all;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, u64> found_;
};

/// A machine with its log. The machine is used by who holds `in_use`, the log by all.
struct Episode {
  Episode(std::shared_ptr<const Golden> base, std::shared_ptr<Machine> first, MemoryKind on)
      : machine(std::move(first)), log(std::move(base), kBudget), kind(on) {}
  std::mutex in_use;
  const std::shared_ptr<Machine> machine;
  CheckpointLog log;
  const MemoryKind kind;
  u64 step = 0;
};

/// The episodes that all threads work on; each is replaced now and then.
struct Family {
  std::mutex mutex;  // guards `episodes`
  std::vector<std::shared_ptr<Episode>> episodes;
  Faults faults;
};

class Worker {
 public:
  Worker(u64 seed, Family& family) : random_(seed), family_(family), faults_(family.faults) {}

  void work(u64 operations) {
    for (u64 i = 0; i < operations; ++i) {
      const auto episode = any();
      const u32 what = random_.below(10);
      if (what < 5) {
        step(*episode);
      } else if (what < 8) {
        fork(*episode);
      } else if (what < 9) {
        live(*episode);
      } else {
        look(*episode);
      }
    }
  }

 private:
  std::shared_ptr<Episode> any() {
    const std::lock_guard lock(family_.mutex);
    return family_.episodes[random_.below(kMachines)];
  }
  void run(Machine& machine) {
    RunRequest request;
    request.max_instructions = 1 + random_.below(1500);
    machine.run(std::move(request));
  }
  MemoryKind kind() {
    return memory_under_test == MemoryKind::kMap && random_.chance(50) ? MemoryKind::kMap : MemoryKind::kSoft;
  }

  void step(Episode& episode) {
    const std::lock_guard in_use(episode.in_use);
    Machine& machine = *episode.machine;
    run(machine);
    if (random_.chance(10)) machine.freeze();
    // Otherwise the last step is done again.
    if (random_.chance(85)) ++episode.step;
    const Checkpoint taken = episode.log.take(machine, episode.step, 64);
    if (random_.chance(30)) faults_.require(machine.digest() == taken.digest, "digest of a checkpoint");
  }

  /// A fork at what is kept is what was told of it; some become episodes of their own.
  void fork(Episode& episode) {
    const auto kept = episode.log.kept();
    if (kept.empty()) return;
    const Checkpoint& at = kept[random_.below(static_cast<u32>(kept.size()))];
    const MemoryKind on = kind();
    std::shared_ptr<Machine> fork;
    try {
      fork = episode.log.fork(at.step, {ForkKind::kGrade, {}, {}, on});
    } catch (const MonitorError& error) {
      faults_.require(error.kind() == ErrorKind::kNoCheckpoint, "refusal of what was dropped meanwhile");
      return;
    }
    // The newest may have been done again meanwhile.
    const bool newest = at.step == kept.back().step;
    faults_.require(newest || fork->digest() == at.digest, "digest of a fork at a step");
    run(*fork);
    if (random_.chance(15)) {
      auto next = std::make_shared<Episode>(episode.log.base(), fork, on);
      const std::lock_guard lock(family_.mutex);
      std::swap(family_.episodes[random_.below(kMachines)], next);
    } else {
      forks_.push_back(std::move(fork));
    }
    // They outlive what they came from, in an order of their own.
    if (forks_.size() > 4) forks_.erase(forks_.begin() + random_.below(4));
  }

  /// The machine goes on, in other hands too, while its snapshot is finished.
  void live(Episode& episode) {
    // The kernel keeps the machine from writing what is copied: an order that the sanitizer cannot see.
    if (kThreadSanitizer && episode.kind == MemoryKind::kMap) return;
    std::unique_ptr<LiveSnapshot> snapshot;
    Digest digest;
    {
      const std::lock_guard in_use(episode.in_use);
      digest = episode.machine->digest();
      try {
        snapshot = Machine::snapshot(episode.machine);
      } catch (const MonitorError& error) {
        faults_.require(error.kind() == ErrorKind::kBusy, "refusal of a second snapshot");
        return;
      }
      run(*episode.machine);
    }
    const auto golden = snapshot->finish();
    faults_.require(golden->digest() == digest, "digest of a live snapshot");
    const auto fork = Machine::fork(golden, {ForkKind::kGrade, {}, {}, kind()});
    faults_.require(fork->digest() == digest, "digest of a live snapshot's fork");
  }

  void look(Episode& episode) {
    const CheckpointStats stats = episode.log.stats();
    faults_.require(stats.kept + stats.dropped <= stats.taken, "count of checkpoints");
    for (const Checkpoint& kept : episode.log.kept()) {
      try {
        const auto golden = episode.log.find(kept.step);
        faults_.require(golden->stored_pages() > 0, "pages of a checkpoint");
      } catch (const MonitorError& error) {
        faults_.require(error.kind() == ErrorKind::kNoCheckpoint, "refusal of what was dropped meanwhile");
      }
    }
  }

  Random random_;
  Family& family_;
  Faults& faults_;
  std::vector<std::shared_ptr<Machine>> forks_;
};

}  // namespace

TEST_ON_BOTH_MEMORIES(
    "steps, checkpoints, forks and live snapshots in many hands at once tell the truth and leave no page") {
  const MemoryStats before = memory_stats();
  const u64 taken = all_checkpoints().taken;
  {
    TempDir dir;
    const auto golden = writer(dir);
    Family family;
    for (unsigned i = 0; i < kMachines; ++i) {
      const MemoryKind on = i % 2 == 0 ? memory_under_test : MemoryKind::kSoft;
      auto machine = Machine::fork(golden, {ForkKind::kGrade, {}, {}, on});
      family.episodes.push_back(std::make_shared<Episode>(golden, std::move(machine), on));
    }
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i) {
      threads.emplace_back([&family, i] { Worker(1000 + i, family).work(operations() / kThreads); });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(family.faults.text() == "");
    CHECK(all_checkpoints().taken - taken > operations() / 4);
    CHECK(all_checkpoints().dropped > 0);
  }
  const MemoryStats after = memory_stats();
  CHECK(after.live_pages == before.live_pages);
  CHECK(after.mapped_pages == before.mapped_pages);
  CHECK(after.tables == before.tables);
  CHECK(all_checkpoints().kept == 0);
  CHECK(all_checkpoints().held_bytes == 0);
}
