#include "monitor/devices/virtio_net.h"

#include <doctest/doctest.h>

#include "test/support/fake_driver.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u16 kWrite = 2;
constexpr unsigned kReceive = VirtioNet::kReceiveQueue, kTransmit = VirtioNet::kTransmitQueue;
constexpr u32 kMac = 1u << 5, kStatus = 1u << 16;
constexpr u64 kHeader = VirtioNet::kHeaderBytes;
constexpr u32 kWholeBuffer = kHeader + VirtioNet::kMaxFrameBytes;

struct Bench {
  std::vector<std::vector<u8>> sent;
  bool somebody = true;
  VirtioNet* net = nullptr;
  FakeDriver driver;
  Bench() : driver(make()) { driver.start({kReceive, kTransmit}, kMac | kStatus); }
  std::unique_ptr<VirtioDevice> make() {
    auto device = std::make_unique<VirtioNet>([this](std::span<const u8> frame) {
      if (somebody) sent.emplace_back(frame.begin(), frame.end());
      return somebody;
    });
    net = device.get();
    return device;
  }
  /// Offers one chain of `bytes` (header included), all of the value `fill`.
  void offer(u64 bytes, u8 fill, u16 index = 0) {
    const u64 at = FakeDriver::buffer(2 * index);
    for (u64 i = 0; i < bytes; ++i) driver.poke<u8>(at + i, fill);
    driver.descriptor(kTransmit, index, at, static_cast<u32>(bytes), 0, 0);
    driver.offer(kTransmit, index);
  }
  void transmit(u64 bytes, u8 fill) {
    offer(bytes, fill);
    driver.kick(kTransmit);
    driver.pass(VirtioNet::kLatencyTicks);
  }
  /// Gives a receive buffer; returns where a frame in it begins.
  u64 give(u16 index, u32 length = kWholeBuffer) {
    const u64 at = FakeDriver::buffer(40 + index);
    driver.descriptor(kReceive, index, at, length, kWrite, 0);
    driver.offer(kReceive, index);
    return at + kHeader;
  }
};

std::vector<u8> frame(std::size_t length, u8 fill) {
  return std::vector<u8>(length, fill);
}

}  // namespace

TEST_CASE("a frame leaves one latency after its notification and not before, without its header") {
  Bench bench;
  bench.offer(kHeader + 60, 7);
  bench.driver.kick(kTransmit);
  bench.driver.pass(VirtioNet::kLatencyTicks - 1);
  CHECK(bench.sent.empty());
  bench.driver.pass(1);
  REQUIRE(bench.sent.size() == 1);
  CHECK(bench.sent[0] == frame(60, 7));
  CHECK(bench.driver.used_count(kTransmit) == 1);
  CHECK(bench.driver.irq);
  CHECK(bench.net->counters().sent_frames == 1);
  CHECK(bench.net->counters().sent_bytes == 60);
}

TEST_CASE("a frame that nobody takes is counted, and its buffer comes back") {
  Bench bench;
  bench.somebody = false;
  bench.transmit(kHeader + 100, 1);
  CHECK(bench.driver.used_count(kTransmit) == 1);
  CHECK(bench.net->counters().sent_frames == 0);
  CHECK(bench.net->counters().dropped_frames == 1);
  CHECK(bench.net->counters().dropped_bytes == 100);
}

TEST_CASE("frames too short, too long, or sent with the cable out are dropped, and the card goes on") {
  Bench bench;
  bench.transmit(kHeader, 1);
  bench.transmit(kHeader + VirtioNet::kMinFrameBytes - 1, 1);
  bench.transmit(kHeader + VirtioNet::kMaxFrameBytes + 1, 1);
  bench.net->set_link(false);
  bench.transmit(kHeader + 60, 1);
  CHECK(bench.sent.empty());
  CHECK(bench.net->counters().dropped_frames == 4);
  bench.net->set_link(true);
  bench.transmit(kHeader + VirtioNet::kMinFrameBytes, 2);
  bench.transmit(kHeader + VirtioNet::kMaxFrameBytes, 2);
  CHECK(bench.sent.size() == 2);
  CHECK(!bench.driver.needs_reset());
}

TEST_CASE("a chain without room for the header breaks the card until it is reset") {
  Bench bench;
  bench.transmit(kHeader - 1, 1);
  CHECK(bench.driver.needs_reset());
  bench.driver.start({kReceive, kTransmit}, kMac | kStatus);
  CHECK(!bench.driver.needs_reset());
}

TEST_CASE("a received frame is seen at its moment, behind a header of zeros") {
  Bench bench;
  const u64 at = bench.give(0);
  bench.net->receive(500, frame(60, 9));
  bench.driver.pass(499);
  CHECK(bench.driver.used_count(kReceive) == 0);
  bench.driver.pass(1);
  CHECK(bench.driver.used_count(kReceive) == 1);
  CHECK(bench.driver.used_length(kReceive, 0) == kHeader + 60);
  for (u64 i = 0; i < kHeader - 2; ++i) CHECK(bench.driver.peek<u8>(at - kHeader + i) == 0);
  CHECK(bench.driver.peek<u16>(at - 2) == 1);
  CHECK(bench.driver.peek<u8>(at) == 9);
  CHECK(bench.driver.peek<u8>(at + 59) == 9);
  CHECK(bench.net->counters().received_bytes == 60);
}

TEST_CASE("frames come in the order of their moments, whatever the order of their arrival") {
  Bench bench;
  const u64 first = bench.give(0), second = bench.give(1), third = bench.give(2);
  bench.net->receive(900, frame(60, 3));
  bench.net->receive(300, frame(60, 1));
  bench.net->receive(300, frame(60, 2));
  bench.driver.pass(300);
  CHECK(bench.driver.used_count(kReceive) == 2);
  bench.driver.pass(600);
  CHECK(bench.driver.used_count(kReceive) == 3);
  CHECK(bench.driver.peek<u8>(first) == 1);
  CHECK(bench.driver.peek<u8>(second) == 2);
  CHECK(bench.driver.peek<u8>(third) == 3);
}

TEST_CASE("frames wait for buffers, as many as may, and no more") {
  Bench bench;
  for (std::size_t i = 0; i < VirtioNet::kMaxWaiting + 5; ++i) bench.net->receive(0, frame(60, 4));
  bench.driver.pass(1);
  CHECK(bench.net->counters().refused_frames == 5);
  CHECK(bench.driver.used_count(kReceive) == 0);
  const u64 at = bench.give(0);
  bench.driver.kick(kReceive);
  CHECK(bench.driver.used_count(kReceive) == 1);
  CHECK(bench.driver.peek<u8>(at) == 4);
}

TEST_CASE("a receive buffer too small for the largest frame breaks the card") {
  Bench bench;
  bench.give(0, kWholeBuffer - 1);
  bench.net->receive(0, frame(60, 4));
  bench.driver.pass(1);
  CHECK(bench.driver.needs_reset());
}

TEST_CASE("frames of wrong length, or with the cable out, are refused on arrival") {
  Bench bench;
  bench.net->receive(0, frame(VirtioNet::kMinFrameBytes - 1, 1));
  bench.net->receive(0, frame(VirtioNet::kMaxFrameBytes + 1, 1));
  bench.net->set_link(false);
  bench.net->receive(0, frame(60, 1));
  CHECK(bench.net->counters().refused_frames == 3);
}

TEST_CASE("the configuration shows address and link; the cable interrupts, a new address does not") {
  Bench bench;
  bench.net->set_mac({2, 1, 2, 3, 4, 5});
  CHECK(bench.driver.reg(0x100) == 0x03020102);
  CHECK(bench.driver.reg(0x104) == 0x00010504);
  CHECK(!bench.driver.irq);
  const u32 generation = bench.driver.reg(0xfc);
  bench.net->set_link(false);
  CHECK(bench.driver.reg(0x104) == 0x00000504);
  CHECK(bench.driver.reg(0xfc) != generation);
  CHECK(bench.driver.irq);
  CHECK(bench.driver.reg(0x60) == 2);
  bench.driver.set(0x64, 2);
  bench.net->set_link(false);
  CHECK(!bench.driver.irq);
}

TEST_CASE("queues are no longer than the card says") {
  Bench bench;
  bench.driver.set(0x70, 0);
  bench.driver.set(0x30, kReceive);
  CHECK(bench.driver.reg(0x34) == VirtioNet::kQueueSize);
  bench.driver.set(0x38, 2 * VirtioNet::kQueueSize);
  bench.driver.set(0x44, 1);
  CHECK(bench.driver.reg(0x44) == 0);
}

TEST_CASE("what waits in the card is part of its state, and a reset forgets it") {
  Bench bench, copy;
  bench.net->set_mac({2, 9, 9, 9, 9, 9});
  bench.net->receive(700, frame(60, 5));
  ByteWriter saved;
  bench.driver.mmio.save(saved);
  const std::vector<u8> bytes = saved.take();
  ByteReader from(bytes);
  copy.driver.mmio.load(from);
  REQUIRE(from.ok());
  CHECK(from.at_end());
  CHECK(copy.net->mac() == bench.net->mac());
  const u64 at = copy.give(0);
  copy.driver.pass(700);
  copy.driver.kick(kReceive);
  CHECK(copy.driver.peek<u8>(at) == 5);
  bench.driver.start({kReceive, kTransmit}, kMac | kStatus);
  bench.give(0);
  bench.driver.pass(1000);
  bench.driver.kick(kReceive);
  CHECK(bench.driver.used_count(kReceive) == 0);
}

TEST_CASE("a state whose frames are out of order, too many or no frames is refused") {
  const auto loads = [](u32 count, std::vector<u64> moments, std::size_t length) {
    ByteWriter state;
    state.put_bytes(std::vector<u8>(6, 2));
    state.put<u8>(1);
    state.put<u8>(0);
    state.put<u64>(~u64{0});
    state.put<u32>(count);
    for (u64 moment : moments) {
      state.put<u64>(moment);
      state.put_string(frame(length, 1));
    }
    const std::vector<u8> bytes = state.take();
    ByteReader from(bytes);
    VirtioNet net([](std::span<const u8>) { return false; });
    net.load(from);
    return from.ok() && from.at_end();
  };
  CHECK(loads(2, {5, 6}, 60));
  CHECK(!loads(2, {6, 5}, 60));
  CHECK(!loads(1, {5}, VirtioNet::kMinFrameBytes - 1));
  CHECK(!loads(1, {5}, VirtioNet::kMaxFrameBytes + 1));
  CHECK(!loads(VirtioNet::kMaxWaiting + 1, {}, 60));
}
