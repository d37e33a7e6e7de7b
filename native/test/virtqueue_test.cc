#include "monitor/devices/virtqueue.h"

#include <doctest/doctest.h>

#include "monitor/devices/virtio_console.h"
#include "test/support/fake_driver.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr unsigned kAgentTransmit = 5;
constexpr u16 kNext = 1, kWrite = 2;

/// A console whose agent transmit queue the test fills; what came out is in `out`.
struct Bench {
  std::vector<u8> out;
  FakeDriver driver{std::make_unique<VirtioConsole>(
      [this](unsigned, std::span<const u8> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); })};
  Bench() { driver.start({4, 5}, 2); }
  void send() { driver.offer(kAgentTransmit, 0), driver.kick(kAgentTransmit); }
  void descriptor(u16 index, u64 address, u32 length, u16 flags = 0, u16 next = 0) {
    driver.descriptor(kAgentTransmit, index, address, length, flags, next);
  }
};

}  // namespace

TEST_CASE("a chain of buffers is read in order and given back") {
  Bench bench;
  bench.driver.poke<u32>(FakeDriver::buffer(0) + 4094, 0x64636261);
  bench.descriptor(0, FakeDriver::buffer(0) + 4094, 2, kNext, 3);
  bench.descriptor(3, FakeDriver::buffer(1), 2);
  bench.send();
  CHECK(bench.out == std::vector<u8>{'a', 'b', 'c', 'd'});
  CHECK(bench.driver.used_count(kAgentTransmit) == 1);
  CHECK(bench.driver.irq);
  bench.driver.set(0x64, 1);
  CHECK(!bench.driver.irq);
}

TEST_CASE("a driver that wants no interrupt gets none") {
  Bench bench;
  bench.driver.poke<u16>(FakeDriver::available(kAgentTransmit), 1);
  bench.descriptor(0, FakeDriver::buffer(0), 2);
  bench.send();
  CHECK(bench.driver.used_count(kAgentTransmit) == 1);
  CHECK(!bench.driver.irq);
}

TEST_CASE("indices wrap around") {
  Bench bench;
  bench.descriptor(0, FakeDriver::buffer(0), 1);
  for (int i = 0; i < 70'000; ++i) bench.send();
  CHECK(bench.out.size() == 70'000);
  CHECK(bench.driver.used_count(kAgentTransmit) == 70'000 % 65'536);
  CHECK(!bench.driver.needs_reset());
}

TEST_CASE("every broken rule ends in DEVICE_NEEDS_RESET, and nothing is touched") {
  Bench bench;
  FakeDriver& driver = bench.driver;
  SUBCASE("a descriptor that links to itself") {
    bench.descriptor(0, FakeDriver::buffer(0), 1, kNext, 0);
  }
  SUBCASE("a loop of two") {
    bench.descriptor(0, FakeDriver::buffer(0), 1, kNext, 1);
    bench.descriptor(1, FakeDriver::buffer(0), 1, kNext, 0);
  }
  SUBCASE("a loop of empty buffers") {
    bench.descriptor(0, 0, 0, kNext, 0);
  }
  SUBCASE("a link beyond the table") {
    bench.descriptor(0, FakeDriver::buffer(0), 1, kNext, 8);
  }
  SUBCASE("a buffer before RAM") {
    bench.descriptor(0, kRamBase - 1, 2);
  }
  SUBCASE("a buffer beyond RAM") {
    bench.descriptor(0, kRamBase + FakeDriver::kRamPages * kPageSize - 1, 2);
  }
  SUBCASE("a buffer that wraps around the address space") {
    bench.descriptor(0, ~u64{0} - 3, 8);
  }
  SUBCASE("a buffer longer than RAM") {
    bench.descriptor(0, FakeDriver::buffer(0), 0xffffffff);
  }
  SUBCASE("an indirect table that was not offered") {
    bench.descriptor(0, FakeDriver::buffer(0), 16, 4);
  }
  SUBCASE("a readable buffer after a writable one") {
    bench.descriptor(0, FakeDriver::buffer(0), 1, kNext | kWrite, 1);
    bench.descriptor(1, FakeDriver::buffer(0), 1);
  }
  SUBCASE("a head beyond the table") {
    driver.poke<u16>(FakeDriver::available(kAgentTransmit) + 4, 8);
    driver.poke<u16>(FakeDriver::available(kAgentTransmit) + 2, 1);
    driver.kick(kAgentTransmit);
  }
  SUBCASE("more chains than the ring holds") {
    driver.poke<u16>(FakeDriver::available(kAgentTransmit) + 2, 9);
    driver.kick(kAgentTransmit);
  }
  if (!driver.needs_reset()) bench.send();
  CHECK(driver.needs_reset());
  CHECK(bench.out.empty());
  CHECK(driver.used_count(kAgentTransmit) == 0);
  CHECK(driver.irq);

  // A reset makes it whole again.
  driver.poke<u16>(FakeDriver::available(kAgentTransmit) + 2, 0);
  driver.start({4, 5}, 2);
  bench.descriptor(0, FakeDriver::buffer(0), 3);
  driver.poke<u16>(FakeDriver::available(kAgentTransmit) + 4, 0);
  driver.poke<u16>(FakeDriver::available(kAgentTransmit) + 2, 1);
  driver.kick(kAgentTransmit);
  CHECK(bench.out.size() == 3);
}

TEST_CASE("rings outside RAM break the queue, not the monitor") {
  for (u64 base : {u64{0}, kRamBase - 8, kRamBase + FakeDriver::kRamPages * kPageSize - 2, ~u64{0} - 1}) {
    for (u64 field : {u64{0x80}, u64{0x90}, u64{0xa0}}) {
      CAPTURE(base);
      CAPTURE(field);
      Bench bench;
      FakeDriver& driver = bench.driver;
      bench.descriptor(0, FakeDriver::buffer(0), 1);
      driver.set(0x30, kAgentTransmit);
      driver.set(0x44, 0);
      driver.add_queue(kAgentTransmit, 8);
      driver.set(0x30, kAgentTransmit);
      // Addresses are fixed while the queue is ready, so it is taken down and set up with the lie.
      driver.set(0x44, 0);
      driver.set(0x38, 8);
      driver.set(0x80, static_cast<u32>(FakeDriver::descriptors(kAgentTransmit)));
      driver.set(0x90, static_cast<u32>(FakeDriver::available(kAgentTransmit)));
      driver.set(0xa0, static_cast<u32>(FakeDriver::used(kAgentTransmit)));
      driver.set(field, static_cast<u32>(base));
      driver.set(field + 4, static_cast<u32>(base >> 32));
      driver.set(0x44, 1);
      bench.send();
      CHECK(driver.needs_reset());
    }
  }
}

TEST_CASE("queue sizes that are no power of two, or too large, are not taken") {
  Bench bench;
  FakeDriver& driver = bench.driver;
  driver.set(0x30, kAgentTransmit);
  for (u32 size : {3u, 512u, 0x10000u, 0x80000000u}) {
    driver.set(0x44, 0);
    driver.set(0x38, size);
    driver.set(0x44, 1);
    CHECK(driver.reg(0x44) == 0);
  }
  driver.set(0x30, 99);
  CHECK(driver.reg(0x34) == 0);
  driver.set(0x44, 1);
  driver.kick(99);
}

TEST_CASE("features that were not offered are not acknowledged") {
  Bench bench;
  FakeDriver& driver = bench.driver;
  driver.set(0x70, 0);
  driver.set(0x70, 3);
  driver.set(0x24, 1), driver.set(0x20, 1), driver.set(0x24, 0), driver.set(0x20, 1u << 28);
  driver.set(0x70, 11);
  CHECK((driver.reg(0x70) & 8) == 0);
}

TEST_CASE("a transport comes back from its saved state") {
  Bench bench;
  bench.descriptor(0, FakeDriver::buffer(0), 1);
  bench.send();
  ByteWriter saved;
  bench.driver.mmio.save(saved);
  const std::vector<u8> bytes = saved.take();
  bench.driver.set(0x70, 0);
  ByteReader from(bytes);
  bench.driver.mmio.load(from);
  CHECK(from.ok());
  CHECK(from.at_end());
  bench.send();
  CHECK(bench.out.size() == 2);
  CHECK(bench.driver.used_count(kAgentTransmit) == 2);
}
