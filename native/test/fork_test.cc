#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "monitor/machine/machine.h"
#include "test/support/machines.h"

using namespace shinken;
using namespace shinken::test;

namespace {
constexpr ForkOptions kGrade{ForkKind::kGrade, {}};
}

TEST_CASE("a grade fork is bit-identical, and stays so when both do the same") {
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

TEST_CASE("what a fork does leaves golden, parent and siblings untouched") {
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

TEST_CASE("equal inputs give equal digests in every fork of a golden") {
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

TEST_CASE("replicas differ from their golden by the generation ID and its interrupt") {
  TempDir dir;
  auto golden = start_echo(dir, 1)->freeze();
  auto a = Machine::fork(golden, {ForkKind::kReplica, {1}});
  auto b = Machine::fork(golden, {ForkKind::kReplica, {2}});
  auto twin = Machine::fork(golden, {ForkKind::kBranch, {2}});
  CHECK(a->digest() != golden->digest());
  CHECK(a->digest() != b->digest());
  CHECK(twin->digest() == b->digest());
}

TEST_CASE("forks live on without their golden, and a branch of a branch of a branch works") {
  TempDir dir;
  auto machine = start_echo(dir, 4);
  for (u32 i = 1; i <= 4; ++i) {
    machine = Machine::fork(machine->freeze(), {ForkKind::kBranch, {static_cast<u8>(i)}});
    CHECK(machine->run(ask(i)).reason == StopReason::kReply);
  }
  CHECK(machine->run({}).reason == StopReason::kIdle);
}

TEST_CASE("a fork owns only the pages that it wrote") {
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

TEST_CASE("decoded code of a warmed fork does not change what later forks do") {
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

TEST_CASE("input that waits for the guest is part of the frozen state") {
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

TEST_CASE("a machine with a writable disk is never frozen") {
  TempDir dir;
  MachineConfig config;
  config.program = dir.write("guest.bin", ScriptGuest().shut_down().binary());
  config.memory_mib = kMinMemoryMiB;
  config.disks.push_back({dir.write("disk", std::vector<u8>(4096)), "", true});
  CHECK_THROWS_AS(Machine::create(config)->freeze(), MonitorError);
}
