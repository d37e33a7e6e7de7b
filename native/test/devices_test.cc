#include <doctest/doctest.h>

#include <cstring>

#include "monitor/devices/event_queue.h"
#include "monitor/devices/generation_id.h"
#include "monitor/devices/plic.h"
#include "monitor/devices/sbi.h"
#include "monitor/devices/uart.h"
#include "monitor/memory/segments.h"
#include "monitor/memory/soft_memory.h"

using namespace shinken;

namespace {

class Lines : public DeviceHost {
 public:
  GuestMemory& memory() override { return ram; }
  void set_irq(unsigned, bool value) override { level = value; }
  void pulse_irq(unsigned) override { ++pulses; }
  void schedule(DeviceId, u64, u32) override {}
  u64 now() const override { return 0; }
  void unschedule(DeviceId) override {}
  SoftMemory ram{std::make_shared<PagePool>(), 4};
  bool level = false;
  int pulses = 0;
};

u64 read(Device& device, u64 offset, unsigned size = 1) {
  u64 value = 0;
  CHECK(device.read(offset, size, &value));
  return value;
}

struct PlicBench {
  bool line = false;
  Plic plic{[this](bool level) { line = level; }};
  PlicBench() {
    for (u64 source = 1; source < 32; ++source) plic.write(4 * source, 4, 1);
    plic.write(0x2000, 4, ~u32{0});
  }
  u64 claim() { return read(plic, 0x200004, 4); }
  void complete(u32 source) { plic.write(0x200004, 4, source); }
};

}  // namespace

TEST_CASE("a level interrupt is claimed once and comes again while the line is up") {
  PlicBench bench;
  bench.plic.set_level(5, true);
  CHECK(bench.line);
  CHECK(bench.claim() == 5);
  CHECK(!bench.line);
  CHECK(bench.claim() == 0);
  bench.complete(5);
  CHECK(bench.line);
  bench.plic.set_level(5, false);
  CHECK(!bench.line);
  CHECK(bench.claim() == 0);
}

TEST_CASE("an edge is kept until it is claimed, and comes once") {
  PlicBench bench;
  bench.plic.pulse(9);
  bench.plic.pulse(9);
  CHECK(bench.claim() == 9);
  bench.complete(9);
  CHECK(!bench.line);
}

TEST_CASE("priority, threshold and enable decide, then the lower number") {
  PlicBench bench;
  bench.plic.write(4 * 7, 4, 3);
  for (unsigned source : {4u, 7u, 9u}) bench.plic.set_level(source, true);
  CHECK(bench.claim() == 7);
  CHECK(bench.claim() == 4);
  bench.plic.write(0x200000, 4, 1);
  CHECK(!bench.line);
  CHECK(bench.claim() == 0);
  bench.plic.write(0x200000, 4, 0);
  bench.plic.write(0x2000, 4, ~(1u << 9));
  CHECK(bench.claim() == 0);
}

TEST_CASE("the interrupt controller takes words only, and survives strange ones") {
  PlicBench bench;
  u64 value;
  CHECK(!bench.plic.read(0, 8, &value));
  CHECK(!bench.plic.write(2, 4, 0));
  CHECK(bench.plic.read(0x3ffffc, 4, &value));
  bench.complete(~u32{0});
  bench.plic.write(0, 4, 7);
  CHECK(read(bench.plic, 0, 4) == 0);
}

TEST_CASE("the serial port sends at once and reports an empty transmitter by interrupt") {
  Lines lines;
  std::string sent;
  Uart uart(&lines, 1, [&](u8 byte) { sent += static_cast<char>(byte); });
  uart.write(0, 1, 'x');
  CHECK(sent == "x");
  CHECK((read(uart, 5) & 0x60) == 0x60);
  uart.write(1, 1, 2);
  CHECK(lines.level);
  CHECK((read(uart, 2) & 15) == 2);
  CHECK(!lines.level);
  CHECK((read(uart, 2) & 15) == 1);
}

TEST_CASE("serial input is bounded and read in order") {
  Lines lines;
  Uart uart(&lines, 1, [](u8) {});
  uart.write(1, 1, 1);
  CHECK(uart.receive(std::vector<u8>{1, 2}));
  CHECK(lines.level);
  CHECK((read(uart, 2) & 15) == 4);
  CHECK(read(uart, 0) == 1);
  CHECK(uart.take() == 2);
  CHECK(uart.take() == -1);
  CHECK(!lines.level);
  CHECK((read(uart, 5) & 1) == 0);
  CHECK(!uart.receive(std::vector<u8>(Uart::kMaxInput + 1)));
  CHECK(uart.receive(std::vector<u8>(Uart::kMaxInput)));
  CHECK(!uart.receive(std::vector<u8>(1)));
}

TEST_CASE("the generation ID reads in any width and interrupts only when renewed") {
  Lines lines;
  GenerationId device(&lines, 9);
  std::array<u8, 16> id;
  for (u8 i = 0; i < 16; ++i) id[i] = i;
  device.set(id);
  CHECK(lines.pulses == 0);
  CHECK(read(device, 8, 8) == 0x0f0e0d0c0b0a0908);
  CHECK(read(device, 15, 1) == 15);
  u64 value;
  CHECK(!device.read(9, 8, &value));
  CHECK(!device.write(0, 4, 0));
  device.renew(id);
  CHECK(lines.pulses == 1);
}

TEST_CASE("events happen by deadline, then device, then the order in which they were made") {
  EventQueue queue;
  queue.add(20, DeviceId::kUart, 1);
  queue.add(10, DeviceId::kVirtio0, 2);
  queue.add(10, DeviceId::kGeneration, 3);
  queue.add(10, DeviceId::kVirtio0, 4);
  CHECK(queue.next_deadline() == 10);
  ByteWriter saved;
  queue.save(saved);
  EventQueue copy;
  const std::vector<u8> bytes = saved.take();
  ByteReader from(bytes);
  copy.load(from);
  CHECK(from.ok());
  std::vector<u32> order;
  DeviceEvent event;
  CHECK(!copy.pop_due(9, &event));
  while (copy.pop_due(20, &event)) order.push_back(event.payload);
  CHECK(order == std::vector<u32>{3, 2, 4, 1});
  CHECK(copy.next_deadline() == ~u64{0});
}

namespace {

class Firmware : public SbiHost {
 public:
  GuestMemory& memory() override { return ram; }
  void console_write(std::span<const u8> bytes) override { out.append(bytes.begin(), bytes.end()); }
  int console_read() override { return in.empty() ? -1 : (in.erase(0, 1), 'k'); }
  void set_timer(u64 value) override { timer = value; }
  void system_reset(u32 type, u32 reason) override { reset = {type, reason}; }
  SbiResult call(u64 extension, u64 function, std::vector<u64> given = {}) {
    given.resize(6);
    return sbi_call(*this, extension, function, given.data());
  }
  SoftMemory ram{std::make_shared<PagePool>(), 4};
  std::string out, in;
  u64 timer = 0;
  std::pair<u32, u32> reset{9, 9};
};

constexpr u64 kBase = 0x10, kTime = 0x54494d45, kReset = 0x53525354, kConsole = 0x4442434e;

}  // namespace

TEST_CASE("the firmware names what it has and refuses the rest") {
  Firmware firmware;
  CHECK(firmware.call(kBase, 0).value == 2 << 24);
  for (u64 extension : {kBase, kTime, kReset, kConsole})
    CHECK(firmware.call(kBase, 3, {extension}).value == 1);
  for (u64 extension : {u64{0x48534d}, u64{0x735049}, ~u64{0}}) {
    CHECK(firmware.call(kBase, 3, {extension}).value == 0);
    CHECK(firmware.call(extension, 0).error == -2);
  }
  CHECK(firmware.call(kBase, 99).error == -2);
  CHECK(firmware.call(kTime, 1).error == -2);
  firmware.call(kTime, 0, {77});
  CHECK(firmware.timer == 77);
}

TEST_CASE("a reset carries type and reason, and nothing unknown passes") {
  Firmware firmware;
  CHECK(firmware.call(kReset, 0, {3, 0}).error == -3);
  CHECK(firmware.call(kReset, 0, {0, 2}).error == -3);
  CHECK(firmware.reset == std::pair<u32, u32>{9, 9});
  firmware.call(kReset, 0, {1, 1});
  CHECK(firmware.reset == std::pair<u32, u32>{1, 1});
}

TEST_CASE("the debug console writes what lies in RAM and nothing else") {
  Firmware firmware;
  write_guest(firmware.ram, kRamBase + 4094, "abcd", 4);
  CHECK(firmware.call(kConsole, 0, {4, kRamBase + 4094, 0}).value == 4);
  CHECK(firmware.out == "abcd");
  for (std::vector<u64> given : {std::vector<u64>{4, kRamBase - 1, 0},
                                 {4, kRamBase + 4 * kPageSize - 3, 0},
                                 {~u64{0}, kRamBase + 3 * kPageSize, 0},
                                 {1, kRamBase, 1},
                                 {1, ~u64{0}, 0}}) {
    CHECK(firmware.call(kConsole, 0, given).error == -3);
    CHECK(firmware.call(kConsole, 1, given).error == -3);
  }
  CHECK(firmware.out == "abcd");
  firmware.in = "xx";
  CHECK(firmware.call(kConsole, 1, {5, kRamBase, 0}).value == 2);
  CHECK(firmware.call(kConsole, 2, {'z'}).error == 0);
  CHECK(firmware.out == "abcdz");
}

TEST_CASE("legacy calls leave a1 as it was") {
  Firmware firmware;
  CHECK(firmware.call(1, 0, {'q', 42}).value == 42);
  CHECK(firmware.out == "q");
  CHECK(firmware.call(2, 0, {0, 42}).error == -1);
  CHECK(firmware.call(8, 0, {0, 42}).value == 42);
  CHECK(firmware.reset == std::pair<u32, u32>{0, 0});
}
