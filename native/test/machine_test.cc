#include "monitor/machine/machine.h"

#include <doctest/doctest.h>

#include <thread>

#include "test/support/machines.h"

using namespace shinken;
using namespace shinken::test;

TEST_ON_BOTH_MEMORIES("a guest that opens its port and waits is idle, and parked") {
  TempDir dir;
  auto machine = start(dir, ScriptGuest().open_agent_port().echo(kEchoPayload, 1).shut_down());
  CHECK(!machine->port_open(Port::kAgent));
  const RunResult result = machine->run({});
  CHECK(result.reason == StopReason::kIdle);
  CHECK(result.parked);
  CHECK(machine->port_open(Port::kAgent));
  CHECK(!machine->port_open(Port::kGrader));
}

TEST_ON_BOTH_MEMORIES("a reply ends the run at the next WFI") {
  TempDir dir;
  auto machine = start_echo(dir, 2);
  const RunResult result = machine->run(ask(7, 42));
  CHECK(result.reason == StopReason::kReply);
  CHECK(result.parked);
  REQUIRE(result.frames.size() == 1);
  CHECK(result.frames[0].header.stream == 7);
  CHECK(result.frames[0].payload == std::vector<u8>(kEchoPayload, 42));
  CHECK(machine->run(ask(8)).reason == StopReason::kReply);
}

TEST_ON_BOTH_MEMORIES("frames are handed out while the machine runs, and collected only if wished") {
  TempDir dir;
  auto machine = start_echo(dir, 1);
  std::vector<u32> seen;
  RunRequest request = ask(3);
  request.collect_frames = false;
  request.on_frame = [&](Port port, const FrameHeader& header, std::span<const u8> payload) {
    CHECK(port == Port::kAgent);
    CHECK(payload.size() == kEchoPayload);
    seen.push_back(header.stream);
  };
  const RunResult result = machine->run(std::move(request));
  CHECK(result.frames.empty());
  CHECK(seen == std::vector<u32>{3});
}

TEST_ON_BOTH_MEMORIES("a guest that answers and does not rest is stopped after the park budget") {
  TempDir dir;
  ScriptGuest guest;
  guest.open_agent_port().put(0x6000, frame(0, 4, kFrameFinal, {}));
  guest.transmit(0x6000, 16).spin(1'000'000).shut_down();
  auto machine = start(dir, guest);
  RunRequest request;
  request.await_stream = 0;
  request.park_budget = 5000;
  const RunResult result = machine->run(std::move(request));
  CHECK(result.reason == StopReason::kReply);
  CHECK(!result.parked);
  // One command later it would still be spinning: the stop is at the budget, not at the shutdown.
  CHECK(machine->run({}).reason == StopReason::kShutdown);
}

TEST_ON_BOTH_MEMORIES("limits are exact, and a run goes on where the last one stopped") {
  TempDir dir;
  auto machine = start(dir, ScriptGuest().spin(100'000).timer(1'000'000).wfi().spin(100'000).shut_down());
  RunRequest request;
  request.max_instructions = 777;
  RunResult result = machine->run(request);
  CHECK(result.reason == StopReason::kInstructionLimit);
  CHECK(result.instret == 777);
  request.max_instructions = 0;
  request.max_guest_ticks = 400'000;
  result = machine->run(request);
  CHECK(result.reason == StopReason::kGuestTimeLimit);
  CHECK(result.ticks == 400'777);
  CHECK(result.parked);
  CHECK(machine->run({}).reason == StopReason::kShutdown);
}

TEST_CASE("a guest that sleeps until its clock is full is stopped there, in every run") {
  TempDir dir;
  auto machine = start(dir, ScriptGuest().timer(~u64{0} - 16).wfi().spin(100).shut_down());
  for (int again = 0; again < 2; ++again) {
    const RunResult result = machine->run({});
    CHECK(result.reason == StopReason::kGuestTimeLimit);
    CHECK(machine->stats().ticks == ~u64{0});
  }
}

TEST_ON_BOTH_MEMORIES("where a run is cut never changes what the guest does") {
  TempDir dir;
  const auto guest = [] {
    return ScriptGuest().spin(5000).timer(50'000).wfi().spin(5000).timer(90'000).wfi().spin(99).shut_down();
  };
  auto whole = start(dir, guest());
  const RunResult expected = whole->run({});
  auto cut = start(dir, guest());
  cut->begin({});
  u64 size = 1;
  while (cut->slice(size).state != SliceResult::State::kDone) size = size % 701 + 13;
  const RunResult result = cut->finish();
  CHECK(result.reason == StopReason::kShutdown);
  CHECK(result.instret == expected.instret);
  CHECK(result.ticks == expected.ticks);
  CHECK(cut->digest() == whole->digest());
}

TEST_ON_BOTH_MEMORIES("bytes that are no frame stop an awaiting run and leave the port dead") {
  TempDir dir;
  ScriptGuest guest;
  guest.open_agent_port()
      .put(0x6000, frame(0, 77, 0, {}))
      .transmit(0x6000, 16)
      .echo(kEchoPayload, 1)
      .shut_down();
  auto machine = start(dir, guest);
  RunRequest request;
  request.await_stream = 0;
  const RunResult result = machine->run(request);
  CHECK(result.reason == StopReason::kProtocol);
  CHECK(result.detail == "org.shinken.agent: the guest wrote a frame of kind 77");
  CHECK(machine->run(request).reason == StopReason::kProtocol);
}

TEST_ON_BOTH_MEMORIES("more output than was asked for stops the run") {
  TempDir dir;
  auto machine = start_echo(dir, 2);
  RunRequest request = ask(1);
  request.max_collected_bytes = kEchoPayload;
  CHECK(machine->run(std::move(request)).reason == StopReason::kOutputLimit);
}

TEST_ON_BOTH_MEMORIES("input that was posted enters with the next run") {
  TempDir dir;
  auto machine = start_echo(dir, 1);
  CHECK(machine->post_input(Port::kAgent, echo_frame(9)));
  CHECK(machine->stats().pending_input == 16 + kEchoPayload);
  RunRequest request;
  request.await_stream = 9;
  CHECK(machine->run(std::move(request)).reason == StopReason::kReply);
  CHECK(machine->stats().pending_input == 0);
}

TEST_ON_BOTH_MEMORIES("the input that may wait is bounded") {
  TempDir dir;
  auto machine = start_echo(dir, 1);
  const std::vector<u8> half(kMaxPendingInput / 2 + 1);
  CHECK(machine->post_input(Port::kGrader, half));
  CHECK(!machine->post_input(Port::kGrader, half));
  CHECK(machine->post_input(Port::kAgent, half));
  CHECK(!machine->post_input(static_cast<Port>(7), {}));
  RunRequest request;
  request.input.push_back({Port::kAgent, std::vector<u8>(kMaxPendingInput + 1)});
  CHECK_THROWS_AS(machine->run(request), MonitorError);
  CHECK(!machine->running());
}

TEST_ON_BOTH_MEMORIES("an open terminal makes an idle guest wait for input in host time") {
  TempDir dir;
  auto machine = start_echo(dir, 1);
  std::vector<OutsideEvent> events;
  RunRequest request;
  request.realtime = true;
  request.await_stream = 4;
  request.on_event = [&](const OutsideEvent& event) { events.push_back(event); };
  std::thread typist([&] { machine->post_input(Port::kAgent, echo_frame(4)); });
  const RunResult result = machine->run(std::move(request));
  typist.join();
  CHECK(result.reason == StopReason::kReply);
  REQUIRE(events.size() == 1);
  CHECK(events[0].bytes == echo_frame(4));
  CHECK(events[0].port == Port::kAgent);
  CHECK(events[0].ticks <= result.ticks);
}

TEST_ON_BOTH_MEMORIES(
    "once nobody is expected any more, an idle guest's wait is skipped, also one that has begun") {
  TempDir dir;
  constexpr u64 kDay = u64{86'400} * kTicksPerSecond;
  auto machine = start(dir, ScriptGuest().timer(kDay).wfi().timer(2 * kDay).wfi().shut_down());
  RunRequest request;
  request.realtime = true;
  machine->begin(std::move(request));
  SliceResult slice = machine->slice(~u64{0});
  CHECK(slice.state == SliceResult::State::kWaiting);
  machine->expect_nobody();
  machine->wait_outside(slice.wait_ns);
  slice = machine->slice(~u64{0});
  CHECK(slice.state == SliceResult::State::kDone);
  const RunResult result = machine->finish();
  CHECK(result.reason == StopReason::kShutdown);
  CHECK(result.ticks >= 2 * kDay);
}

TEST_ON_BOTH_MEMORIES("a guest that could only be woken from outside waits, though nobody is expected") {
  TempDir dir;
  auto machine = start_echo(dir, 1);
  RunRequest request;
  request.realtime = true;
  request.await_stream = 4;
  machine->begin(std::move(request));
  machine->expect_nobody();
  CHECK(machine->slice(~u64{0}).state == SliceResult::State::kWaiting);
  CHECK(machine->post_input(Port::kAgent, echo_frame(4)));
  CHECK(machine->slice(~u64{0}).state == SliceResult::State::kDone);
  CHECK(machine->finish().reason == StopReason::kReply);
}

TEST_ON_BOTH_MEMORIES("a cancel ends a run of a guest that never rests, and the machine goes on") {
  TempDir dir;
  ScriptGuest guest;
  guest.spin(1'000'000'000'000).jump(0);
  auto machine = start(dir, guest);
  machine->begin({});
  machine->cancel();
  CHECK(machine->slice(~u64{0}).state == SliceResult::State::kDone);
  CHECK(machine->finish().reason == StopReason::kCancelled);
  RunRequest request;
  request.max_instructions = 10;
  CHECK(machine->run(request).reason == StopReason::kInstructionLimit);
}

TEST_ON_BOTH_MEMORIES("a cancel wakes a machine that waits for a person") {
  TempDir dir;
  auto machine = start_echo(dir, 1);
  RunRequest request;
  request.realtime = true;
  machine->begin(std::move(request));
  std::thread other([&] { machine->cancel(); });
  SliceResult slice = machine->slice(1'000'000);
  while (slice.state == SliceResult::State::kWaiting) {
    machine->wait_outside(slice.wait_ns);
    slice = machine->slice(1'000'000);
  }
  other.join();
  CHECK(machine->finish().reason == StopReason::kCancelled);
}

TEST_ON_BOTH_MEMORIES("a closed machine refuses everything but a second close") {
  TempDir dir;
  auto machine = start_echo(dir, 1);
  machine->close();
  machine->close();
  CHECK_THROWS_AS(machine->run({}), MonitorError);
  CHECK_THROWS_AS(machine->freeze(), MonitorError);
  CHECK_THROWS_AS(machine->digest(), MonitorError);
  CHECK(!machine->post_input(Port::kAgent, {}));
  CHECK(!machine->port_open(Port::kAgent));
  machine->cancel();
}

TEST_ON_BOTH_MEMORIES("a running machine can be neither frozen nor closed") {
  TempDir dir;
  auto machine = start_echo(dir, 1);
  machine->begin({});
  CHECK(machine->running());
  CHECK_THROWS_AS(machine->freeze(), MonitorError);
  CHECK_THROWS_AS(machine->close(), MonitorError);
  while (machine->slice(1000).state != SliceResult::State::kDone) {
  }
  machine->finish();
  CHECK(!machine->running());
}

TEST_CASE("a configuration out of range is refused") {
  TempDir dir;
  MachineConfig config;
  config.program = dir.write("guest.bin", ScriptGuest().shut_down().binary());
  config.memory_mib = 63;
  CHECK_THROWS_AS(Machine::create(config), MonitorError);
  config.memory_mib = 4097;
  CHECK_THROWS_AS(Machine::create(config), MonitorError);
  config.memory_mib = 64;
  config.bootargs = std::string(4000, 'x');
  CHECK_THROWS_AS(Machine::create(config), MonitorError);
  config.bootargs = std::string("a\0b", 3);
  CHECK_THROWS_AS(Machine::create(config), MonitorError);
  config.bootargs = "";
  config.disks.resize(5);
  CHECK_THROWS_AS(Machine::create(config), MonitorError);
}
