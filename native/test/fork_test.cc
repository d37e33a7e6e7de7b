#include <doctest/doctest.h>

#include <algorithm>
#include <variant>

#include "monitor/machine/machine.h"
#include "monitor/memory/page_pool.h"
#include "test/differential/random.h"
#include "test/support/machines.h"

using namespace shinken;
using namespace shinken::test;

namespace {
constexpr ForkOptions kGrade{ForkKind::kGrade, {}};
}

TEST_ON_BOTH_MEMORIES("a grade fork is bit-identical, and stays so when both do the same") {
  TempDir dir;
  auto machine = start_echo(dir, 4);
  machine->run(ask(1));
  auto golden = machine->freeze();
  CHECK(golden->digest() == machine->digest());
  auto child = Machine::fork(golden, kGrade);
  CHECK(child->digest() == machine->digest());
  child->run(ask(2, 5));
  CHECK(child->digest() != machine->digest());
  machine->run(ask(2, 5));
  CHECK(child->digest() == machine->digest());
}

TEST_ON_BOTH_MEMORIES("a resumed machine is the frozen one to the bit, and no grade fork") {
  TempDir dir;
  auto golden = start_echo(dir, 4)->freeze();
  auto resumed = Machine::fork(golden, {ForkKind::kResume, {7}, MacAddress{2, 0, 0, 0, 0, 1}});
  CHECK(resumed->digest() == golden->digest());
  CHECK(!resumed->grading());
  CHECK(Machine::fork(golden, kGrade)->grading());
}

TEST_ON_BOTH_MEMORIES("what a fork does leaves golden, parent and siblings untouched") {
  TempDir dir;
  auto machine = start_echo(dir, 4);
  auto golden = machine->freeze();
  const Digest before = golden->digest();
  auto a = Machine::fork(golden, kGrade), b = Machine::fork(golden, kGrade);
  a->run(ask(1, 1));
  b->run(ask(1, 2));
  machine->run(ask(1, 3));
  CHECK(golden->digest() == before);
  CHECK(Machine::fork(golden, kGrade)->digest() == before);
  CHECK(a->digest() != b->digest());
  CHECK(b->digest() != machine->digest());
}

TEST_ON_BOTH_MEMORIES("equal inputs give equal digests in every fork of a golden") {
  TempDir dir;
  auto golden = start_echo(dir, 3)->freeze();
  std::vector<Digest> digests;
  for (int i = 0; i < 4; ++i) {
    auto fork = Machine::fork(golden, kGrade);
    fork->run(ask(1, 7));
    if (i % 2 == 1) {
      // A stop in between, a freeze and a digest change nothing either.
      fork->freeze();
      fork->digest();
    }
    fork->run(ask(2, 9));
    digests.push_back(fork->digest());
  }
  for (const Digest& digest : digests) CHECK(digest == digests[0]);
}

TEST_ON_BOTH_MEMORIES("replicas differ from their golden by the generation ID and its interrupt") {
  TempDir dir;
  auto golden = start_echo(dir, 1)->freeze();
  auto a = Machine::fork(golden, {ForkKind::kReplica, {1}});
  auto b = Machine::fork(golden, {ForkKind::kReplica, {2}});
  auto twin = Machine::fork(golden, {ForkKind::kBranch, {2}});
  CHECK(a->digest() != golden->digest());
  CHECK(a->digest() != b->digest());
  CHECK(twin->digest() == b->digest());
}

TEST_ON_BOTH_MEMORIES(
    "a fork's network card has the address that it is given, and a grade fork its parent's") {
  TempDir dir;
  auto golden = start_echo(dir, 1)->freeze();
  const MacAddress one{2, 0, 0, 0, 0, 7}, other{2, 0, 0, 0, 0, 8};
  const auto digest = [&](ForkKind kind, std::optional<MacAddress> mac) {
    return Machine::fork(golden, {kind, {1}, mac})->digest();
  };
  CHECK(digest(ForkKind::kReplica, one) != digest(ForkKind::kReplica, other));
  CHECK(digest(ForkKind::kReplica, one) == digest(ForkKind::kBranch, one));
  CHECK(digest(ForkKind::kGrade, one) == golden->digest());
  CHECK_THROWS_AS(digest(ForkKind::kReplica, MacAddress{}), MonitorError);
  CHECK_THROWS_AS(digest(ForkKind::kReplica, MacAddress{1, 0, 0, 0, 0, 7}), MonitorError);
}

TEST_ON_BOTH_MEMORIES("forks live on without their golden, and a branch of a branch of a branch works") {
  TempDir dir;
  auto machine = start_echo(dir, 4);
  for (u32 i = 1; i <= 4; ++i) {
    machine = Machine::fork(machine->freeze(), {ForkKind::kBranch, {static_cast<u8>(i)}});
    CHECK(machine->run(ask(i)).reason == StopReason::kReply);
  }
  CHECK(machine->run({}).reason == StopReason::kIdle);
}

TEST_ON_BOTH_MEMORIES("a fork owns only the pages that it wrote") {
  TempDir dir;
  auto machine = start_echo(dir, 2);
  CHECK(machine->stats().private_bytes > 0);
  auto golden = machine->freeze();
  CHECK(machine->stats().private_bytes == 0);
  auto fork = Machine::fork(golden, kGrade);
  CHECK(fork->stats().private_bytes == 0);
  fork->run(ask(1));
  CHECK(fork->stats().private_bytes > 0);
  CHECK(fork->stats().private_bytes <= 4 * kPageSize);
}

TEST_ON_BOTH_MEMORIES("decoded code of a warmed fork does not change what later forks do") {
  TempDir dir;
  auto golden = start_echo(dir, 2)->freeze();
  auto cold = Machine::fork(golden, kGrade);
  cold->run(ask(1));
  CHECK(!golden->has_code());
  cold->share_code_with(*golden);
  CHECK(golden->has_code());
  auto warm = Machine::fork(golden, kGrade);
  warm->run(ask(1));
  CHECK(warm->digest() == cold->digest());
}

TEST_ON_BOTH_MEMORIES("input that waits for the guest is part of the frozen state") {
  TempDir dir;
  auto machine = start_echo(dir, 1), twin = start_echo(dir, 1);
  CHECK(machine->digest() == twin->digest());
  RunRequest request = ask(1);
  request.input.push_back({Port::kAgent, echo_frame(2)});
  machine->run(std::move(request));
  twin->run(ask(1));
  CHECK(machine->digest() != twin->digest());
  auto fork = Machine::fork(machine->freeze(), kGrade);
  CHECK(fork->stats().pending_input == echo_frame(2).size());
  CHECK(fork->digest() == machine->digest());
}

TEST_ON_BOTH_MEMORIES("a machine with a writable disk is never frozen") {
  TempDir dir;
  MachineConfig config;
  config.program = dir.write("guest.bin", ScriptGuest().shut_down().binary());
  config.memory_mib = kMinMemoryMiB;
  config.disks.push_back({dir.write("disk", std::vector<u8>(4096)), "", true});
  CHECK_THROWS_AS(Machine::create(config)->freeze(), MonitorError);
}

TEST_ON_BOTH_MEMORIES(
    "a random tree of goldens, forks and branches leaves no page behind, in whatever order it is closed") {
  using MachineRef = std::shared_ptr<Machine>;
  using GoldenRef = std::shared_ptr<Golden>;
  const MemoryStats before = memory_stats();
  for (u64 seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    TempDir dir;
    std::vector<std::variant<MachineRef, GoldenRef>> all{start_echo(dir, 200)};
    u32 stream = 0;
    for (int step = 0; step < 60; ++step) {
      const auto chosen = all[random.below(static_cast<u32>(all.size()))];
      if (const auto* golden = std::get_if<GoldenRef>(&chosen)) {
        if (random.chance(20)) {
          (*golden)->save(dir.file("saved"));
          all.emplace_back(Golden::load(dir.file("saved"), {}));
        } else {
          all.emplace_back(Machine::fork(*golden, kGrade));
        }
        continue;
      }
      const MachineRef& machine = std::get<MachineRef>(chosen);
      const u32 what = random.below(100);
      if (what < 30) {
        all.emplace_back(machine->freeze());
      } else if (what < 50) {
        all.emplace_back(Machine::fork(machine->freeze(), {ForkKind::kBranch, {static_cast<u8>(step)}}));
      } else if (what < 90) {
        CHECK(machine->run(ask(++stream)).reason == StopReason::kReply);
      } else if (all.size() > 1) {
        all.erase(std::find(all.begin(), all.end(), chosen));
      }
    }
    u64 live = memory_stats().live_pages;
    CHECK(live > before.live_pages);
    while (!all.empty()) {
      const auto at = all.begin() + random.below(static_cast<u32>(all.size()));
      if (const auto* machine = std::get_if<MachineRef>(&*at)) {
        // Closed by name, too: what a machine held is gone although somebody still has the object.
        if (random.chance(50)) (*machine)->close();
      }
      all.erase(at);
      CHECK(memory_stats().live_pages <= live);
      live = memory_stats().live_pages;
    }
    CHECK(live == before.live_pages);
    CHECK(memory_stats().mapped_pages == before.mapped_pages);
    CHECK(memory_stats().tables == before.tables);
    CHECK(memory_stats().file_pages == before.file_pages);
  }
}

TEST_ON_BOTH_MEMORIES("a fork that is closed gives back exactly the pages that it wrote") {
  TempDir dir;
  auto golden = start_echo(dir, 2)->freeze();
  const u64 shared = memory_stats().live_pages;
  auto fork = Machine::fork(golden, kGrade);
  CHECK(memory_stats().live_pages == shared);
  fork->run(ask(1));
  CHECK(memory_stats().live_pages == shared + fork->stats().private_bytes / kPageSize);
  auto branch = Machine::fork(fork->freeze(), kGrade);
  branch->run(ask(2));
  const u64 own = branch->stats().private_bytes / kPageSize;
  const u64 all = memory_stats().live_pages;
  fork->close();
  // What the closed fork wrote and its branch did not write again is the branch's now.
  CHECK(memory_stats().live_pages <= all);
  CHECK(memory_stats().live_pages >= shared + own);
  branch->close();
  CHECK(memory_stats().live_pages == shared);
}
