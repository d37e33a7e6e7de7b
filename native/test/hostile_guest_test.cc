// What a guest that means harm can do to others: nothing. And to the host: hold as much memory as it was
// given.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

#include "monitor/devices/virtio_block.h"
#include "monitor/engine/engine.h"
#include "monitor/machine/machine_impl.h"
#include "test/support/attackers.h"
#include "test/support/sanitized.h"

using namespace shinken;
using namespace shinken::test;

namespace {

std::shared_ptr<Machine> start_attacker(const TempDir& dir, const Attacker& attacker) {
  MachineConfig config;
  config.program = dir.write("attacker.bin", attacker.binary);
  config.memory_mib = kMinMemoryMiB;
  // Once: who runs has it mapped.
  if (!std::filesystem::exists(dir.file("disk"))) dir.write("disk", std::vector<u8>(16 << 20, 7));
  config.disks.push_back({dir.file("disk"), "disk"});
  return Machine::create(config);
}

u64 resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  u64 size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<u64>(sysconf(_SC_PAGESIZE));
}

RunRequest bounded(u64 instructions) {
  RunRequest request;
  request.max_instructions = instructions;
  return request;
}

}  // namespace

TEST_CASE("a turn ends after as much work for the guest as its instructions would have been") {
  TempDir dir;
  constexpr u64 kTurn = 100'000;
  // One event of a device is never cut in two: here the last may read 32 MiB and a request more.
  constexpr u64 kOneEvent = VirtioBlock::kMaxBytesPerEvent + kMaxChainBytes;
  for (const Attacker& attacker : attackers()) {
    CAPTURE(std::string(attacker.what));
    auto machine = start_attacker(dir, attacker);
    u64 console = 0, frames = 0;
    machine->set_console([&](std::span<const u8> bytes) { console += bytes.size(); });
    RunRequest request;
    request.max_guest_ticks = 1'000'000'000;
    request.collect_frames = false;
    request.on_frame = [&](Port, const FrameHeader&, std::span<const u8>) { ++frames; };
    machine->begin(std::move(request));
    const u64 before = Machine::impl_of(*machine)->board->work();
    machine->slice(kTurn);
    const u64 work = Machine::impl_of(*machine)->board->work() - before;
    CHECK(work <= kTurn + (kOneEvent + (1 << 20)) / Board::kWorkPerInstruction);
    CHECK(console <= Board::kWorkPerInstruction * kTurn + (2 << 20));
    CHECK(frames * kFrameHeaderBytes <= Board::kWorkPerInstruction * kTurn + (2 << 20));
    machine->cancel();
    machine->slice(1);
    machine->finish();
  }
}

TEST_CASE("a turn is shorter for what an instruction does not show") {
  TempDir dir;
  constexpr u64 kTurn = 1'000'000;
  const std::string_view slow[] = {"floods the firmware's console", "reads the disk without an end",
                                   "drops its translations", "writes the code that it runs",
                                   "writes garbage to every device"};
  for (const Attacker& attacker : attackers()) {
    if (std::find(std::begin(slow), std::end(slow), attacker.what) == std::end(slow)) continue;
    CAPTURE(std::string(attacker.what));
    auto machine = start_attacker(dir, attacker);
    machine->begin({});
    CHECK(machine->slice(kTurn).state == SliceResult::State::kRunnable);
    CHECK(Machine::impl_of(*machine)->hart->state().instret < kTurn / 3);
    machine->cancel();
    machine->slice(1);
    machine->finish();
  }
}

TEST_CASE("a guest makes the host hold its own memory, and a bounded rest") {
  TempDir dir;
  constexpr u64 kOwn = kMinMemoryMiB << 20;
  // Decoded and translated code, frames that are kept for the caller, devices.
  constexpr u64 kRest = 192 << 20;
  for (const Attacker& attacker : attackers()) {
    CAPTURE(std::string(attacker.what));
    const u64 resident = resident_bytes(), pages = memory_stats().live_pages;
    auto machine = start_attacker(dir, attacker);
    const RunResult result = machine->run(bounded(3'000'000));
    CHECK(result.reason != StopReason::kHostMemory);
    CHECK(memory_stats().live_pages - pages <= kOwn >> kPageShift);
    if (!kSanitized) CHECK(resident_bytes() < resident + kOwn + kRest);
  }
}

TEST_CASE("frames that are kept are bounded by what they cost the host, also when they are empty") {
  TempDir dir;
  auto machine = start_attacker(dir, {"", frame_flood(many_empty_frames())});
  RunRequest request;
  request.max_collected_bytes = 1 << 20;
  const RunResult result = machine->run(std::move(request));
  CHECK(result.reason == StopReason::kOutputLimit);
  CHECK(result.frames.size() * kFrameOverhead <= 1 << 20);
}

TEST_CASE("what an attacker made of its machine can be frozen, forked and graded") {
  TempDir dir;
  for (const Attacker& attacker : attackers()) {
    CAPTURE(std::string(attacker.what));
    auto machine = start_attacker(dir, attacker);
    machine->run(bounded(300'000));
    const auto fork = Machine::fork(machine->freeze(), {ForkKind::kGrade, {}});
    CHECK(fork->digest() == machine->digest());
    for (const auto& one : {machine, fork}) one->run(bounded(50'000));
    CHECK(fork->digest() == machine->digest());
  }
}

TEST_CASE("a machine among attackers does what it does alone, step by step") {
  TempDir dir;
  constexpr u16 kSteps = 12;
  const auto golden = start_echo(dir, kSteps)->freeze();
  const auto alone = Machine::fork(golden, {ForkKind::kGrade, {}});
  std::vector<Digest> expected;
  for (u32 step = 1; step <= kSteps; ++step) {
    alone->run(ask(step, static_cast<u8>(step)));
    expected.push_back(alone->digest());
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<StopReason> ended;
  const auto engine = Engine::acquire(1);
  std::vector<std::shared_ptr<Machine>> hostile;
  for (const Attacker& attacker : attackers()) {
    hostile.push_back(start_attacker(dir, attacker));
    RunRequest request;
    request.collect_frames = false;
    request.await_stream = 0xffff'ffff;
    engine->submit(hostile.back(), std::move(request), [&](RunResult result) {
      const std::lock_guard lock(mutex);
      ended.push_back(result.reason);
      changed.notify_all();
    });
  }
  const auto victim = Machine::fork(golden, {ForkKind::kGrade, {}});
  for (u32 step = 1; step <= kSteps; ++step) {
    bool done = false;
    engine->submit(victim, ask(step, static_cast<u8>(step)), [&](RunResult result) {
      const std::lock_guard lock(mutex);
      CHECK(result.reason == StopReason::kReply);
      done = true;
      changed.notify_all();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done; });
    CHECK(victim->digest() == expected[step - 1]);
  }
  for (const auto& machine : hostile) machine->cancel();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ended.size() == hostile.size(); });
}
