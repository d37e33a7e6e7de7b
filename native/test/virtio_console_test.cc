#include "monitor/devices/virtio_console.h"

#include <doctest/doctest.h>

#include <cstring>

#include "test/support/fake_driver.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u16 kWrite = 2;
constexpr unsigned kControlReceive = 2, kControlTransmit = 3, kAgentReceive = 4;
constexpr u16 kReady = 0, kAdd = 1, kPortReady = 3, kPortOpen = 6, kName = 7;

struct Bench {
  VirtioConsole* console;
  FakeDriver driver;
  Bench() : driver(make(&console)) { driver.start({2, 3, 4, 5, 6, 7}, 2); }
  static std::unique_ptr<VirtioDevice> make(VirtioConsole** out) {
    auto device = std::make_unique<VirtioConsole>([](unsigned, std::span<const u8>) {});
    *out = device.get();
    return device;
  }
  void tell(u32 port, u16 event, u16 value) {
    driver.poke<u32>(FakeDriver::buffer(30), port);
    driver.poke<u16>(FakeDriver::buffer(30) + 4, event);
    driver.poke<u16>(FakeDriver::buffer(30) + 6, value);
    driver.descriptor(kControlTransmit, 0, FakeDriver::buffer(30), 8, 0, 0);
    driver.offer(kControlTransmit, 0);
    driver.kick(kControlTransmit);
  }
  /// Gives a receive queue a buffer of `length` bytes; returns its address.
  u64 give(unsigned queue, u16 index, u32 length) {
    const u64 at = FakeDriver::buffer(queue * 8 + index);
    driver.descriptor(queue, index, at, length, kWrite, 0);
    driver.offer(queue, index);
    driver.kick(queue);
    return at;
  }
};

}  // namespace

TEST_CASE("the handshake announces the two ports by name and opens them") {
  Bench bench;
  bench.tell(0, kReady, 1);
  std::vector<std::pair<u32, u16>> said;
  const auto read = [&](u16 index) {
    const u64 at = bench.give(kControlReceive, index, 64);
    said.emplace_back(bench.driver.peek<u32>(at), bench.driver.peek<u16>(at + 4));
    return at;
  };
  read(0), read(1);
  bench.tell(1, kPortReady, 1);
  const u64 name = read(2);
  char text[19] = {};
  read_guest(bench.driver.ram, name + 8, text, 18);
  CHECK(std::strcmp(text, "org.shinken.agent") == 0);
  read(3);
  using Said = std::vector<std::pair<u32, u16>>;
  CHECK(said == Said{{1, kAdd}, {2, kAdd}, {1, kName}, {1, kPortOpen}});
  CHECK(bench.driver.reg(0x104) == VirtioConsole::kPorts);
}

TEST_CASE("input waits until the guest opens the port, and then for buffers") {
  Bench bench;
  const u64 at = bench.give(kAgentReceive, 0, 3);
  const u8 bytes[] = {1, 2, 3, 4, 5};
  bench.console->send(1, bytes);
  CHECK(bench.driver.used_count(kAgentReceive) == 0);
  bench.tell(1, kPortOpen, 1);
  CHECK(bench.console->open(1));
  CHECK(bench.driver.used_count(kAgentReceive) == 1);
  CHECK(bench.driver.used_length(kAgentReceive, 0) == 3);
  CHECK(bench.driver.peek<u8>(at + 2) == 3);
  CHECK(bench.console->pending(1) == 2);
  bench.give(kAgentReceive, 1, 100);
  CHECK(bench.console->pending(1) == 0);
  CHECK(bench.driver.used_length(kAgentReceive, 1) == 2);
}

TEST_CASE("control messages about ports that do not exist, or too short ones, are ignored") {
  Bench bench;
  for (u32 port : {0u, 3u, 99u, ~0u}) {
    bench.tell(port, kPortOpen, 1);
    bench.tell(port, kPortReady, 1);
  }
  bench.tell(1, 999, 1);
  bench.driver.descriptor(kControlTransmit, 0, FakeDriver::buffer(30), 5, 0, 0);
  bench.driver.offer(kControlTransmit, 0);
  bench.driver.kick(kControlTransmit);
  CHECK(!bench.driver.needs_reset());
  CHECK(bench.driver.used_count(kControlTransmit) == 10);
  bench.give(kControlReceive, 0, 64);
  CHECK(bench.driver.used_count(kControlReceive) == 0);
}

TEST_CASE("a driver that asks again and again makes no queue grow") {
  Bench bench;
  for (int i = 0; i < 10'000; ++i) bench.tell(1, kPortReady, 1);
  ByteWriter saved;
  bench.console->save(saved);
  CHECK(saved.size() < VirtioConsole::kMaxControl * 64);
}

TEST_CASE("a write that is too large breaks the device") {
  Bench bench;
  for (u16 i = 0; i < 3; ++i) {
    bench.driver.descriptor(5, i, kRamBase, 512 * 1024, i < 2 ? 1 : 0, static_cast<u16>(i + 1));
  }
  bench.driver.offer(5, 0);
  bench.driver.kick(5);
  CHECK(bench.driver.needs_reset());
}
