#include "monitor/machine/joint.h"

#include <doctest/doctest.h>

#include "monitor/base/error.h"
#include "monitor/machine/layout.h"
#include "monitor/snapshot/checkpoint_log.h"
#include "test/support/machines.h"

using namespace shinken;
using namespace shinken::test;

namespace {

// Queues of the card in the guest's data, one descriptor each, and their buffers.
constexpr u64 kReceiveAt = 0x8000, kTransmitAt = 0x9000, kAvailable = 0x400, kUsed = 0x800;
constexpr u64 kReceiveBuffer = 0xa000, kTransmitBuffer = 0xb000;
constexpr u64 kFrameBytes = 60;
constexpr u32 kBufferBytes = VirtioNet::kHeaderBytes + VirtioNet::kMaxFrameBytes;

u64 reg(u64 offset) {
  return layout::kNet + offset;
}

void add_queue(ScriptGuest& guest, u32 index, u64 at) {
  guest.store32(reg(0x30), index).store32(reg(0x38), 8);
  guest.store32(reg(0x80), static_cast<u32>(ScriptGuest::data(at)));
  guest.store32(reg(0x90), static_cast<u32>(ScriptGuest::data(at + kAvailable)));
  guest.store32(reg(0xa0), static_cast<u32>(ScriptGuest::data(at + kUsed)));
  guest.store32(reg(0x44), 1);
}

/// A guest whose card works: one receive buffer is offered, one frame (to all, from `station`) lies ready.
ScriptGuest station(u8 station) {
  ScriptGuest guest;
  guest.store32(layout::kPlic + 4 * layout::kNetIrq, 1);
  guest.store32(layout::kPlic + 0x2000, 1u << layout::kNetIrq);
  guest.store32(reg(0x70), 3);
  guest.store32(reg(0x24), 1).store32(reg(0x20), 1);
  guest.store32(reg(0x70), 11);
  add_queue(guest, VirtioNet::kReceiveQueue, kReceiveAt);
  add_queue(guest, VirtioNet::kTransmitQueue, kTransmitAt);
  guest.store32(reg(0x70), 15);
  std::vector<u8> frame(VirtioNet::kHeaderBytes + kFrameBytes, 0);
  std::fill_n(frame.begin() + VirtioNet::kHeaderBytes, 6, u8{0xff});
  frame[VirtioNet::kHeaderBytes + 6] = 2;
  frame[VirtioNet::kHeaderBytes + 11] = station;
  guest.put(kTransmitBuffer, frame);
  guest.put_descriptor(kTransmitAt, ScriptGuest::data(kTransmitBuffer), static_cast<u32>(frame.size()), 0, 0);
  guest.put_descriptor(kReceiveAt, ScriptGuest::data(kReceiveBuffer), kBufferBytes, 2, 0);
  return guest;
}

ScriptGuest& transmit(ScriptGuest& guest, u32 number) {
  guest.store32(ScriptGuest::data(kTransmitAt + kAvailable), number << 16).store32(reg(0x50), 1);
  guest.wait16(ScriptGuest::data(kTransmitAt + kUsed + 2), static_cast<u16>(number));
  return guest.store32(reg(0x64), 3);
}

ScriptGuest& receive(ScriptGuest& guest, u32 number) {
  guest.store32(ScriptGuest::data(kReceiveAt + kAvailable), number << 16).store32(reg(0x50), 0);
  guest.wait16(ScriptGuest::data(kReceiveAt + kUsed + 2), static_cast<u16>(number));
  return guest.store32(reg(0x64), 3);
}

/// Sends first, and waits for each answer.
ScriptGuest caller(u32 rounds) {
  ScriptGuest guest = station(1);
  for (u32 i = 1; i <= rounds; ++i) receive(transmit(guest, i), i);
  return guest.shut_down();
}

/// Answers what it receives, and waits for ever at the end.
ScriptGuest answerer(u32 rounds) {
  ScriptGuest guest = station(2);
  for (u32 i = 1; i <= rounds; ++i) transmit(receive(guest, i), i);
  return guest.wait16(ScriptGuest::data(0xf000), 1);
}

struct Pair {
  TempDir one, other;
  std::shared_ptr<Machine> a, b;
  Pair(const ScriptGuest& first, const ScriptGuest& second) : a(start(one, first)), b(start(other, second)) {
    Machine::join({a, b});
  }
};

}  // namespace

TEST_CASE("joined machines exchange frames, and a run of one takes the other along") {
  Pair pair(caller(3), answerer(3));
  const RunResult result = pair.a->run({});
  CHECK(result.reason == StopReason::kShutdown);
  for (const auto& machine : {pair.a, pair.b}) {
    CHECK(machine->stats().net.sent_frames == 3);
    CHECK(machine->stats().net.received_frames == 3);
    CHECK(machine->stats().net.dropped_frames == 0);
  }
  CHECK(pair.b->stats().instret > 0);
  CHECK(!pair.b->running());
}

TEST_CASE("a frame is a window under way") {
  Pair pair(caller(1), answerer(1));
  pair.a->run({});
  // There and back, and both cards' latencies.
  CHECK(pair.a->stats().ticks >= 2 * (Joint::kWindowTicks + VirtioNet::kLatencyTicks));
  CHECK(pair.a->stats().ticks < 3 * Joint::kWindowTicks);
}

TEST_CASE("where a run is cut into slices, and which of them is asked, changes nothing") {
  Pair whole(caller(4), answerer(4)), cut(caller(4), answerer(4));
  whole.a->run({});
  cut.a->begin({});
  while (cut.a->slice(7).state != SliceResult::State::kDone) continue;
  cut.a->finish();
  CHECK(cut.a->digest() == whole.a->digest());
  CHECK(cut.b->digest() == whole.b->digest());

  RunRequest little;
  little.max_instructions = 50;
  Pair turns(caller(4), answerer(4));
  while (turns.a->run(little).reason == StopReason::kInstructionLimit) turns.b->run(little);
  CHECK(turns.a->stats().net.received_frames == 4);
  CHECK(turns.a->digest() == whole.a->digest());
}

TEST_CASE("a run ends as idle only when no machine can go on") {
  Pair asleep(answerer(1), answerer(1));
  CHECK(asleep.a->run({}).reason == StopReason::kIdle);
  TempDir dir;
  // This one sleeps for a second and sends then.
  ScriptGuest late = station(3);
  late.timer(kTicksPerSecond).wfi().timer(~u64{0});
  transmit(late, 1);
  late.wait16(ScriptGuest::data(0xf000), 1);
  Pair pair(answerer(1), late);
  CHECK(pair.a->run({}).reason == StopReason::kIdle);
  CHECK(pair.a->stats().net.received_frames == 1);
  CHECK(pair.a->stats().ticks >= kTicksPerSecond);
}

TEST_CASE("an idle wait is skipped by all at once, to the caller's limit") {
  Pair pair(answerer(1), answerer(1));
  RunRequest request;
  request.max_guest_ticks = 3600 * kTicksPerSecond;
  const RunResult result = pair.a->run(request);
  CHECK(result.reason == StopReason::kGuestTimeLimit);
  CHECK(pair.a->stats().ticks == 3600 * kTicksPerSecond);
  CHECK(pair.b->stats().ticks >= 3600 * kTicksPerSecond - Joint::kWindowTicks);
  CHECK(pair.b->stats().ticks <= 3600 * kTicksPerSecond + Joint::kWindowTicks);
}

TEST_CASE("what a machine says while it is taken along comes with its own next run") {
  TempDir one, other;
  auto a = start(one, caller(1));
  auto b = start_echo(other, 2);
  Machine::join({a, b});
  // The answer of stream 1 comes while the other machine runs.
  REQUIRE(b->post_input(Port::kAgent, echo_frame(1)));
  RunRequest request;
  request.max_instructions = 100'000;
  a->run(request);
  const RunResult result = b->run(ask(2));
  CHECK(result.reason == StopReason::kReply);
  REQUIRE(result.frames.size() == 2);
  CHECK(result.frames[0].header.stream == 1);
  CHECK(result.frames[1].header.stream == 2);
}

TEST_CASE("they count as one: while one runs, the others are busy") {
  Pair pair(answerer(1), answerer(1));
  pair.a->begin({});
  CHECK_THROWS_AS(pair.b->begin({}), MonitorError);
  CHECK_THROWS_AS(pair.b->freeze(), MonitorError);
  CHECK_THROWS_AS(pair.b->part(), MonitorError);
  CHECK_THROWS_AS(pair.b->close(), MonitorError);
  // A cancel of one that is taken along is none of the caller's.
  pair.b->cancel();
  while (pair.a->slice(1000).state != SliceResult::State::kDone) continue;
  CHECK(pair.a->finish().reason == StopReason::kIdle);
  pair.b->close();
}

TEST_CASE("a cancel ends the caller's run, and the next goes on") {
  TempDir dir;
  ScriptGuest spinning = station(1);
  const std::size_t again = spinning.next();
  spinning.spin(1000).jump(again);
  Pair pair(spinning, answerer(1));
  pair.a->begin({});
  pair.a->slice(10'000);
  pair.a->cancel();
  while (pair.a->slice(10'000).state != SliceResult::State::kDone) continue;
  CHECK(pair.a->finish().reason == StopReason::kCancelled);
  RunRequest request;
  request.max_guest_ticks = 3 * Joint::kWindowTicks;
  CHECK(pair.b->run(request).reason == StopReason::kGuestTimeLimit);
}

TEST_CASE("who parts or is closed is an empty port") {
  Pair parted(caller(1), answerer(1)), closed(caller(1), answerer(1));
  parted.b->part();
  CHECK(!parted.b->joined());
  CHECK(parted.a->run({}).reason == StopReason::kIdle);
  CHECK(parted.a->stats().net.received_frames == 0);
  CHECK(parted.b->stats().instret == 0);
  closed.b->close();
  CHECK(closed.a->run({}).reason == StopReason::kIdle);
  closed.a->part();
  closed.a->part();
}

TEST_CASE("forks of joined machines are not joined") {
  Pair pair(caller(1), answerer(1));
  auto fork = Machine::fork(pair.a->freeze(), {ForkKind::kGrade, {}});
  CHECK(!fork->joined());
  CHECK(fork->digest() == pair.a->digest());
  fork->run({});
  CHECK(fork->stats().net.dropped_frames == 1);
}

TEST_ON_BOTH_MEMORIES(
    "checkpoints of joined machines are theirs alone, and do not show in what the pair does") {
  constexpr u32 kRounds = 6;
  Pair plain(caller(kRounds), answerer(kRounds)), pair(caller(kRounds), answerer(kRounds));
  RunRequest little;
  little.max_guest_ticks = Joint::kWindowTicks / 2;
  CheckpointLog first(nullptr), second(nullptr);
  u64 step = 0, caught = 0;
  for (bool over = false; !over; ++step) {
    over = plain.a->run(little).reason == StopReason::kShutdown;
    CHECK((pair.a->run(little).reason == StopReason::kShutdown) == over);
    CHECK(first.take(*pair.a, step).digest == plain.a->digest());
    CHECK(second.take(*pair.b, step).digest == plain.b->digest());
    caught += pair.a->stats().net.sent_frames - pair.b->stats().net.received_frames;
  }
  REQUIRE(step > kRounds);
  // Some were taken while a frame was under way.
  CHECK(caught > 0);
  CHECK(pair.a->stats().net.received_frames == kRounds);
  for (u64 number = 0; number < step; ++number) {
    CAPTURE(number);
    for (CheckpointLog* log : {&first, &second}) {
      auto fork = log->fork(number, {ForkKind::kGrade, {}});
      CHECK(!fork->joined());
      CHECK(fork->digest() == log->find(number)->digest());
      fork->run(little);
      CHECK(fork->stats().net.sent_frames == 0);
    }
  }
  pair.a->begin({});
  CHECK_THROWS_AS(second.take(*pair.b, step), MonitorError);
  pair.a->cancel();
  while (pair.a->slice(1000).state != SliceResult::State::kDone) continue;
  pair.a->finish();
}

TEST_CASE("what cannot be joined is refused, and so is host time") {
  TempDir dir;
  auto a = start(dir, answerer(1)), b = start(dir, answerer(1)), c = start(dir, answerer(1));
  CHECK_THROWS_AS(Machine::join({a}), MonitorError);
  CHECK_THROWS_AS(Machine::join({a, a}), MonitorError);
  CHECK_THROWS_AS(Machine::join(std::vector(17, a)), MonitorError);
  Machine::join({a, b});
  CHECK_THROWS_AS(Machine::join({b, c}), MonitorError);
  RunRequest request;
  request.realtime = true;
  CHECK_THROWS_AS(a->run(request), MonitorError);
  CHECK(a->run({}).reason == StopReason::kIdle);
  c->close();
  CHECK_THROWS_AS(Machine::join({a, c}), MonitorError);
}
