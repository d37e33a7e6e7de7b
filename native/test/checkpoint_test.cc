#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "monitor/snapshot/checkpoint_log.h"
#include "test/differential/random.h"
#include "test/support/machines.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u64 kUnbounded = ~u64{0};
constexpr u64 kWritten = 64;  // pages that the guest writes, one after the other, for ever
constexpr ForkOptions kGrade{ForkKind::kGrade, {}};

void step(Machine& machine, u64 instructions) {
  RunRequest request;
  request.max_instructions = instructions;
  REQUIRE(machine.run(std::move(request)).reason == StopReason::kInstructionLimit);
}

/// A golden whose guest adds to its pages in turn, and to one that gets its former bytes back. It has written
/// some of them.
std::shared_ptr<Golden> writer(const TempDir& dir, u64 memory_mib = kMinMemoryMiB) {
  ScriptGuest guest;
  for (u32 i = 0; i < kWritten; ++i) guest.add32(ScriptGuest::data(0x10000 + i * kPageSize), i + 1);
  guest.store32(ScriptGuest::data(0x10000 + kWritten * kPageSize), 0).jump(0);
  MachineConfig config;
  config.program = dir.write("guest.bin", guest.binary());
  config.memory_mib = memory_mib;
  config.memory = memory_under_test;
  auto machine = Machine::create(config);
  step(*machine, 600);
  return machine->freeze();
}

/// Step lengths that touch from one page to all.
u64 length(u64 number) {
  return 20 + number * 37 % 900;
}

std::string missing(const CheckpointLog& log, u64 step) {
  try {
    log.find(step);
  } catch (const MonitorError& error) {
    CHECK(error.kind() == ErrorKind::kNoCheckpoint);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_ON_BOTH_MEMORIES("a checkpoint's digest is the machine's, and that of a file whose every page is read") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  CheckpointLog log(golden, kUnbounded);
  for (u64 number = 0; number < 30; ++number) {
    CAPTURE(number);
    const Checkpoint taken = log.take(*machine, number);
    CHECK(taken.digest == machine->digest());
    const auto frozen = log.find(number);
    CHECK(frozen->digest() == taken.digest);
    if (number % 10 == 9) {
      frozen->save(dir.file("saved"));
      CHECK(Golden::load(dir.file("saved"), {})->digest() == taken.digest);
    }
    CHECK(Machine::fork(frozen, kGrade)->digest() == taken.digest);
    step(*machine, length(number));
    // A grade fork, a freeze, a digest between two checkpoints: nothing to them.
    if (number % 3 == 0) machine->freeze();
    if (number % 4 == 0) machine->digest();
  }
  CHECK(log.find(0)->digest() == golden->digest());
}

TEST_ON_BOTH_MEMORIES("taking checkpoints does not show in what a machine does") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade), plain = Machine::fork(golden, kGrade);
  CheckpointLog log(golden);
  for (u64 number = 0; number < 20; ++number) {
    log.take(*machine, number);
    step(*machine, length(number));
    step(*plain, length(number));
  }
  CHECK(machine->digest() == plain->digest());
}

TEST_ON_BOTH_MEMORIES(
    "a machine asked for its digest after each step tells what one says that is asked once") {
  TempDir dir;
  const auto golden = writer(dir);
  constexpr u64 kSteps = 14;
  std::vector<Digest> digests;
  auto machine = Machine::fork(golden, kGrade);
  machine->digest();
  // Nobody else runs on this thread meanwhile, so that what the hart knows outlives the digests.
  for (u64 number = 0; number < kSteps; ++number) {
    CAPTURE(number);
    step(*machine, 3 * length(number));
    const u64 hashed = machine->stats().hashed_pages;
    digests.push_back(machine->digest());
    // Some instructions write a page; besides them, the program's own data.
    CHECK(machine->stats().hashed_pages - hashed <= std::min(kWritten, 3 * length(number) / 5) + 3);
    if (number == 9) machine->freeze();
  }
  for (u64 number = 0; number < kSteps; ++number) {
    CAPTURE(number);
    auto other = Machine::fork(golden, kGrade);
    for (u64 done = 0; done <= number; ++done) step(*other, 3 * length(done));
    CHECK(digests[number] == other->digest());
  }
}

TEST_ON_BOTH_MEMORIES("the delta counts the pages whose bytes a step changed, not those it wrote") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  CheckpointLog log(golden, kUnbounded);
  CHECK(log.take(*machine, 0).delta_pages == 0);
  CHECK(log.take(*machine, 1).delta_pages == 0);
  // All of them many times over, and zeros into a page of zeros.
  step(*machine, 200'000);
  CHECK(log.take(*machine, 2).delta_pages == kWritten);
  CHECK(log.take(*machine, 3).delta_pages == 0);
}

TEST_ON_BOTH_MEMORIES(
    "a checkpoint costs the pages that the step wrote, and nothing for the size of memory") {
  for (const u64 memory_mib : {u64{64}, u64{2048}}) {
    CAPTURE(memory_mib);
    TempDir dir;
    const auto golden = writer(dir, memory_mib);
    auto machine = Machine::fork(golden, kGrade);
    CheckpointLog log(golden, kUnbounded);
    step(*machine, 200'000);
    log.take(*machine, 0);
    for (u64 number = 1; number < 10; ++number) {
      const MemoryStats before = memory_stats();
      const u64 scanned = machine->stats().paths.scanned_pages;
      step(*machine, 300);
      const Checkpoint taken = log.take(*machine, number);
      CHECK(taken.delta_pages > 0);
      CHECK(taken.delta_pages < 30);
      const MemoryStats after = memory_stats();
      // One page more is written with the bytes that it has.
      CHECK(after.live_pages - before.live_pages <= taken.delta_pages + 1);
      CHECK(machine->stats().paths.scanned_pages - scanned <= taken.delta_pages + 1);
      CHECK(after.tables - before.tables <= 4);
    }
  }
}

TEST_CASE("checkpoints of both memories tell the same of the same steps") {
  if (!host_has_flat_memory()) return;
  TempDir dir;
  const auto golden = writer(dir);
  std::vector<Checkpoint> told[2];
  for (const MemoryKind kind : {MemoryKind::kSoft, MemoryKind::kMap}) {
    auto machine = Machine::fork(golden, {ForkKind::kGrade, {}, {}, kind});
    CheckpointLog log(golden, kUnbounded);
    for (u64 number = 0; number < 25; ++number) {
      log.take(*machine, number);
      step(*machine, length(number));
      // As reading milestones does.
      if (kind == MemoryKind::kMap) Machine::fork(machine->freeze(), kGrade);
    }
    told[static_cast<int>(kind)] = log.kept();
  }
  for (u64 number = 0; number < 25; ++number) {
    CAPTURE(number);
    const Checkpoint &soft = told[0][number], &map = told[1][number];
    CHECK(soft.digest == map.digest);
    CHECK(soft.delta_pages == map.delta_pages);
    CHECK(soft.instret == map.instret);
    CHECK(soft.ticks == map.ticks);
  }
}

TEST_ON_BOTH_MEMORIES(
    "who goes on from a checkpoint and does the same comes to the same, on either memory, nested") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  CheckpointLog log(golden, kUnbounded);
  constexpr u64 kSteps = 14;
  for (u64 number = 0; number < kSteps; ++number) {
    log.take(*machine, number);
    step(*machine, length(number));
  }
  const auto told = log.kept();
  std::vector<MemoryKind> kinds{MemoryKind::kSoft};
  if (host_has_flat_memory()) kinds.push_back(MemoryKind::kMap);
  for (const MemoryKind kind : kinds) {
    const ForkOptions on{ForkKind::kGrade, {}, {}, kind};
    for (u64 from = 0; from < kSteps; from += 3) {
      CAPTURE(from);
      auto again = log.fork(from, on);
      CheckpointLog inner(log.base(), kUnbounded);
      for (u64 number = from; number < kSteps; ++number) {
        const Checkpoint taken = inner.take(*again, number);
        CHECK(taken.digest == told[number].digest);
        CHECK(taken.ticks == told[number].ticks);
        if (number > from) CHECK(taken.delta_pages == told[number].delta_pages);
        step(*again, length(number));
      }
      CHECK(again->digest() == machine->digest());
      const u64 middle = (from + kSteps) / 2;
      auto nested = inner.fork(middle, on);
      again->close();
      for (u64 number = middle; number < kSteps; ++number) step(*nested, length(number));
      CHECK(nested->digest() == machine->digest());
    }
  }
}

TEST_CASE("a flat memory finds the same pages by either scan, and soft memory those") {
  if (!host_has_flat_memory()) return;
  constexpr u64 kPages = 2 * kPagesPerMid;
  SoftMemory first(std::make_shared<PagePool>(), kPages);
  for (u64 page = 0; page < 500; ++page) std::memset(first.page_for_write(page), 1, kPageSize);
  const auto image = first.freeze();
  MapMemory scanned(image), raw(image);
  SoftMemory soft(*image);
  raw.scan_by(WriteScan::kPrivate);
  const std::array<MachineMemory*, 3> all{&scanned, &raw, &soft};
  std::array<std::shared_ptr<const MemoryImage>, 3> before{image, image, image};
  Random random(3);
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 40; ++i) {
      const u64 page = random.chance(90) ? random.below(600) : random.below(kPages);
      const int value = static_cast<int>(random.below(3));
      const bool written = random.chance(70);
      for (MachineMemory* memory : all) {
        u8* at = memory->page_for_write(page);
        if (written) std::memset(at, value, kPageSize);
      }
    }
    std::array<u64, 3> changed{}, copied{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      // A digest in between has found some of them out already.
      if (round % 3 == 1) all[i]->sum();
      const auto now = all[i]->checkpoint();
      CHECK(all[i]->dirty_pages() == 0);
      CHECK(all[i]->sum() == now->sum());
      now->for_each_difference(*before[i], [&](u64 number, Page* page) {
        Page* old = before[i]->find(number);
        const Digest then = old == nullptr ? zero_page_hash() : old->content_hash();
        ++copied[i];
        if (then != (page == nullptr ? zero_page_hash() : page->content_hash())) ++changed[i];
      });
      before[i] = now;
    }
    CHECK(before[0]->sum() == before[2]->sum());
    CHECK(before[1]->sum() == before[2]->sum());
    CHECK(changed[0] == changed[2]);
    CHECK(changed[1] == changed[2]);
    // Flat memory copies nothing else.
    CHECK(copied[0] == changed[0]);
    CHECK(copied[1] == changed[1]);
  }
}

TEST_ON_BOTH_MEMORIES("what a log says that it holds is exactly what goes with it") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  auto log = std::make_unique<CheckpointLog>(golden, kUnbounded);
  for (u64 number = 0; number < 40; ++number) {
    step(*machine, length(number));
    log->take(*machine, number);
    if (number % 5 == 0) Machine::fork(machine->freeze(), kGrade);
  }
  const CheckpointStats said = log->stats();
  CHECK(said.kept == 40);
  CHECK(said.held_pages > 100);
  CHECK(said.held_bytes > said.held_pages << kPageShift);
  CHECK(all_checkpoints().held_bytes == said.held_bytes);
  const MemoryStats before = memory_stats();
  log.reset();
  const MemoryStats after = memory_stats();
  CHECK(before.live_pages - after.live_pages == said.held_pages);
  CHECK(before.tables > after.tables);
  CHECK(all_checkpoints().held_bytes == 0);
  CHECK(all_checkpoints().kept == 0);
}

TEST_CASE("a flat copy that many forks of a checkpoint brought about is the log's") {
  if (!host_has_flat_memory()) return;
  TempDir dir;
  const auto golden = writer(dir);
  const ForkOptions on_map{ForkKind::kGrade, {}, {}, MemoryKind::kMap};
  auto machine = Machine::fork(golden, on_map);
  auto log = std::make_unique<CheckpointLog>(golden, kUnbounded);
  step(*machine, 200'000);
  log->take(*machine, 0);
  step(*machine, 100);
  log->take(*machine, 1);
  const CheckpointStats before = log->stats();
  for (int i = 0; i < 20; ++i) CHECK(log->fork(0, on_map)->digest() == log->find(0)->digest());
  const CheckpointStats after = log->stats();
  CHECK(after.held_pages >= before.held_pages + kWritten);
  CHECK(all_checkpoints().held_pages == after.held_pages);
  const u64 live = memory_stats().live_pages;
  log.reset();
  CHECK(live - memory_stats().live_pages == after.held_pages);
}

TEST_ON_BOTH_MEMORIES("over a thousand steps the budget holds, the oldest go, and what goes is counted") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  constexpr u64 kBudget = u64{2} << 20;
  const u64 shared = memory_stats().live_pages;
  CheckpointLog log(golden, kBudget);
  std::vector<u64> dropped;
  for (u64 number = 0; number <= 1000; ++number) {
    step(*machine, length(number));
    log.take(*machine, number, 100, &dropped);
    REQUIRE(log.stats().held_bytes <= kBudget);
    REQUIRE(log.find(number) != nullptr);
    // The log's, and what the machine has: written pages, and in flat memory their frozen copies.
    REQUIRE(memory_stats().live_pages <= shared + (kBudget >> kPageShift) + 3 * kWritten);
  }
  const CheckpointStats stats = log.stats();
  CHECK(stats.taken == 1001);
  CHECK(stats.kept + stats.dropped == stats.taken);
  CHECK(stats.kept > 10);
  CHECK(stats.dropped > 800);
  REQUIRE(dropped.size() == stats.dropped);
  for (u64 number = 0; number < dropped.size(); ++number) CHECK(dropped[number] == number);
  const u64 oldest = log.kept().front().step;
  CHECK(oldest == stats.dropped);
  CHECK(missing(log, 0) ==
        "no_checkpoint: no checkpoint of step 0 is kept; kept: " + std::to_string(oldest) + " to 1000");
}

TEST_ON_BOTH_MEMORIES("the newest checkpoint stays although it alone is more than the budget") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  CheckpointLog log(golden, 0);
  for (u64 number = 0; number < 3; ++number) {
    log.take(*machine, number);
    step(*machine, 5'000);
  }
  CHECK(log.kept().size() == 1);
  CHECK(missing(log, 0) == "no_checkpoint: no checkpoint of step 0 is kept; kept: 2");
  CHECK(missing(CheckpointLog(nullptr), 7) == "no_checkpoint: no checkpoint of step 7 is kept; kept: none");
}

TEST_ON_BOTH_MEMORIES("a checkpoint that a living fork was made of is not dropped, and is when it is gone") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  CheckpointLog log(golden, u64{1} << 20);
  auto go_on = [&, number = u64{0}](u64 steps) mutable {
    for (const u64 end = number + steps; number < end; ++number) {
      log.take(*machine, number);
      step(*machine, 900);
    }
  };
  go_on(4);
  auto branch = log.fork(2, kGrade);
  const Digest digest = log.find(2)->digest();
  go_on(200);
  CHECK(log.find(2)->digest() == digest);
  CHECK(branch->digest() == digest);
  CHECK(missing(log, 1).find("kept: 2, ") != std::string::npos);
  CHECK(log.stats().held_bytes <= log.budget());
  branch.reset();
  go_on(1);
  CHECK(!missing(log, 2).empty());
}

TEST_ON_BOTH_MEMORIES("a step that is done again has its newest checkpoint, told from the step before it") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade), straight = Machine::fork(golden, kGrade);
  CheckpointLog log(golden, kUnbounded), plain(golden, kUnbounded);
  log.take(*machine, 0);
  plain.take(*straight, 0);
  for (const u64 number : {1, 2}) {
    step(*machine, 700);
    log.take(*machine, number);
    step(*machine, 300);
    const Checkpoint again = log.take(*machine, number);
    step(*straight, 1000);
    const Checkpoint once = plain.take(*straight, number);
    CHECK(again.digest == once.digest);
    CHECK(again.delta_pages == once.delta_pages);
    CHECK(log.find(number)->digest() == once.digest);
  }
  CHECK(log.stats().taken == 5);
  CHECK(log.stats().kept == 3);
  CHECK(log.stats().dropped == 0);
}

TEST_ON_BOTH_MEMORIES("checkpoints are taken of machines at rest, of growing steps, and of one size") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  CheckpointLog log(golden);
  log.take(*machine, 5);
  CHECK_THROWS_AS(log.take(*machine, 4), MonitorError);
  machine->begin({});
  CHECK_THROWS_AS(log.take(*machine, 6), MonitorError);
  machine->cancel();
  while (machine->slice(1000).state != SliceResult::State::kDone) {
  }
  machine->finish();
  CHECK_THROWS_AS(CheckpointLog(writer(dir, 128)).take(*machine, 6), MonitorError);
  log.take(*machine, 6);
  machine->close();
  CHECK_THROWS_AS(log.take(*machine, 7), MonitorError);
  CHECK(log.kept().size() == 2);
}

TEST_ON_BOTH_MEMORIES("logs, machines, branches and goldens closed in any order leave no page behind") {
  const MemoryStats before = memory_stats();
  for (u64 seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    TempDir dir;
    std::vector<std::shared_ptr<void>> all;
    {
      auto golden = writer(dir);
      auto machine = Machine::fork(golden, kGrade);
      auto log = std::make_shared<CheckpointLog>(golden, u64{1} << (18 + random.below(4)));
      all.insert(all.end(), {golden, machine, log});
      for (u64 number = 0; number < 60; ++number) {
        step(*machine, 20 + random.below(2000));
        log->take(*machine, number);
        if (random.chance(20)) {
          const auto kept = log->kept();
          const u64 from = kept[random.below(static_cast<u32>(kept.size()))].step;
          const bool map = random.chance(50) && host_has_flat_memory();
          auto branch =
              log->fork(from, {ForkKind::kGrade, {}, {}, map ? MemoryKind::kMap : MemoryKind::kSoft});
          auto inner = std::make_shared<CheckpointLog>(log->find(from));
          for (u64 more = 1; more < 4; ++more) {
            step(*branch, random.below(500) + 1);
            inner->take(*branch, more);
          }
          all.push_back(inner);
          all.push_back(branch);
        }
        if (random.chance(20) && all.size() > 4)
          all.erase(all.begin() + 3 + random.below(static_cast<u32>(all.size() - 3)));
      }
    }
    u64 live = memory_stats().live_pages;
    CHECK(live > before.live_pages);
    while (!all.empty()) {
      all.erase(all.begin() + random.below(static_cast<u32>(all.size())));
      CHECK(memory_stats().live_pages <= live);
      live = memory_stats().live_pages;
    }
    CHECK(live == before.live_pages);
    CHECK(memory_stats().mapped_pages == before.mapped_pages);
    CHECK(memory_stats().tables == before.tables);
    CHECK(all_checkpoints().kept == 0);
    CHECK(all_checkpoints().held_bytes == 0);
    CHECK(all_checkpoints().held_pages == 0);
  }
}
