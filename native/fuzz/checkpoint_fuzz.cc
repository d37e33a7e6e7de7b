// Checkpoints of a machine taken, forked at, done again and dropped within a budget, in the order that the
// input says, on either memory, with freezes and live snapshots in between: each fork has the digest that was
// told, what was dropped is refused, the budget holds, and at the end no page is left. Input: {flags u8},
// then commands of {op u8, place u16, value u32}.
#include <map>

#include "fuzz/support/commands.h"
#include "monitor/base/error.h"
#include "monitor/machine/machine_impl.h"
#include "monitor/memory/segments.h"
#include "monitor/snapshot/checkpoint_log.h"
#include "test/support/script_guest.h"
#include "test/support/temp_dir.h"

using namespace shinken;
using namespace shinken::fuzz;
using namespace shinken::test;

namespace {

constexpr u64 kWritten = 40;  // pages that the guest writes, one after the other, for ever
constexpr u64 kWindow = 256;  // pages that the input writes
constexpr u64 kFirst = 0x10000;
constexpr unsigned kMaxCommands = 120;
constexpr std::size_t kMaxForks = 4;

std::shared_ptr<const Golden> golden() {
  static TempDir dir;
  static const auto made = [] {
    ScriptGuest guest;
    for (u32 i = 0; i < kWritten; ++i) guest.add32(ScriptGuest::data(kFirst + i * kPageSize), i + 1);
    guest.jump(0);
    MachineConfig config;
    config.program = dir.write("guest", guest.binary());
    config.memory_mib = kMinMemoryMiB;
    const auto machine = Machine::create(config);
    RunRequest request;
    request.max_instructions = 600;
    machine->run(std::move(request));
    auto frozen = machine->freeze();
    frozen->digest();
    // What the process keeps of it is there before the first input.
    for (const bool map : {false, true}) {
      try {
        Machine::fork(frozen, {ForkKind::kGrade, {}, {}, map ? MemoryKind::kMap : MemoryKind::kSoft});
      } catch (const MonitorError&) {  // NOLINT(bugprone-empty-catch): no flat memory here
      }
    }
    return frozen;
  }();
  return made;
}

bool has_flat() {
  static const bool has = [] {
    try {
      Machine::fork(golden(), {ForkKind::kGrade, {}, {}, MemoryKind::kMap});
      return true;
    } catch (const MonitorError&) {
      return false;
    }
  }();
  return has;
}

void run(Machine& machine, u64 instructions) {
  RunRequest request;
  request.max_instructions = instructions;
  require(machine.run(std::move(request)).reason == StopReason::kInstructionLimit);
}

/// One machine with its log, and what was told of it.
struct Episode {
  Episode(const std::shared_ptr<Machine>& from, u64 budget)
      : machine(from), log(std::make_unique<CheckpointLog>(golden(), budget)) {}
  std::shared_ptr<Machine> machine;
  std::unique_ptr<CheckpointLog> log;
  std::map<u64, Digest> told;  // by step, those that were dropped too
  u64 step = 0, taken_times = 0;

  /// `forked`: living forks keep checkpoints from being dropped.
  void take(u64 ahead, bool forked) {
    step += ahead;
    std::vector<u64> dropped;
    const Checkpoint taken = log->take(*machine, step, 100, &dropped);
    require(taken.step == step && taken.digest == machine->digest());
    told[step] = taken.digest;
    require(!log->kept().empty() && log->kept().back().step == step);
    const CheckpointStats stats = log->stats();
    require(stats.kept == log->kept().size() && stats.taken == ++taken_times);
    require(forked || stats.held_bytes <= log->budget() || stats.kept == 1);
    for (const u64 gone : dropped) require(gone < step && told.contains(gone) && !has(gone));
  }
  bool has(u64 number) const {
    try {
      log->find(number);
      return true;
    } catch (const MonitorError& error) {
      require(error.kind() == ErrorKind::kNoCheckpoint);
      return false;
    }
  }
  /// Null: it was dropped, or never was.
  std::shared_ptr<Machine> fork(u64 number, MemoryKind kind) {
    if (!has(number)) return nullptr;
    auto made = log->fork(number, {ForkKind::kGrade, {}, {}, kind});
    require(made->digest() == told.at(number));
    return made;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  golden(), has_flat();
  const MemoryStats before = memory_stats();
  {
    Commands commands(data, size);
    const auto kind = [&](u64 bit) {
      return (bit & 1) != 0 && has_flat() ? MemoryKind::kMap : MemoryKind::kSoft;
    };
    const u64 budget = u64{4096} << (commands.flags >> 1 & 15);
    Episode episode(Machine::fork(golden(), {ForkKind::kGrade, {}, {}, kind(commands.flags)}), budget);
    std::vector<std::shared_ptr<Machine>> forks;
    std::unique_ptr<LiveSnapshot> live;
    Digest live_digest;
    bool forked = false;  // the log holds on to what a living fork was made of
    const auto end_live = [&] {
      if (live) require(live->finish()->digest() == live_digest);
      live.reset();
    };
    for (unsigned count = 0; count < kMaxCommands && commands.next(); ++count) {
      Machine& machine = *episode.machine;
      switch (commands.op % 12) {
        case 0:
        case 1:
          run(machine, 1 + commands.a % 3000);
          break;
        case 2:
        case 3: {
          // A whole page, of zeros now and then, or a word of it.
          const std::vector<u8> bytes(commands.b % 3 == 0 ? 8 : kPageSize,
                                      static_cast<u8>(commands.b >> 8 & 3));
          const u64 page = commands.a % kWindow;
          require(write_guest(*Machine::impl_of(machine)->memory,
                              ScriptGuest::data(kFirst + page * kPageSize), bytes.data(), bytes.size()));
          break;
        }
        case 4:
        case 5:
        case 6:
          // The same step again, the next, or one further on.
          episode.take(commands.a % 8 == 0 ? 0 : 1 + (commands.a % 8 == 1 ? 5 : 0), forked);
          break;
        case 7: {
          auto fork = episode.fork(commands.a % (episode.step + 2), kind(commands.b));
          if (!fork) break;
          run(*fork, 1 + (commands.b >> 1) % 500);
          forked = true;
          if (forks.size() < kMaxForks) forks.push_back(std::move(fork));
          break;
        }
        case 8:
          if (forks.empty()) break;
          forks.erase(forks.begin() + commands.a % forks.size());
          forked = !forks.empty();
          break;
        case 9: {
          // Goes on from a former step, nested, and the rest may go first.
          if (episode.told.empty()) break;
          auto fork = episode.fork(commands.a % (episode.step + 1), kind(commands.b));
          if (!fork) break;
          end_live();
          Episode next(fork, budget);
          std::swap(episode, next);
          if ((commands.b & 2) != 0) next.log.reset();
          forked = false;
          break;
        }
        case 10:
          if ((commands.a & 1) != 0) machine.freeze();
          if ((commands.a & 2) != 0) machine.digest();
          break;
        default:
          end_live();
          if ((commands.a & 1) == 0) break;
          live_digest = machine.digest();
          live = Machine::snapshot(episode.machine);
      }
    }
    end_live();
    for (const Checkpoint& kept : episode.log->kept()) require(episode.told.at(kept.step) == kept.digest);
    for (const auto& [number, digest] : episode.told) {
      if (episode.has(number)) require(episode.log->find(number)->digest() == digest);
    }
    // In either order.
    if ((commands.flags & 64) != 0) episode.log.reset();
    if ((commands.flags & 128) != 0) episode.machine.reset();
  }
  const MemoryStats after = memory_stats();
  require(after.live_pages == before.live_pages && after.tables == before.tables);
  require(all_checkpoints().kept == 0 && all_checkpoints().held_bytes == 0);
  return 0;
}
