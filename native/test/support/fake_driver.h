#pragma once
// A virtio driver for tests: a device behind its registers, RAM, and a queue that the test may fill with
// lies.
#include <map>
#include <memory>
#include <vector>

#include "monitor/devices/event_queue.h"
#include "monitor/devices/virtio_mmio.h"
#include "monitor/memory/segments.h"
#include "monitor/memory/soft_memory.h"

namespace shinken::test {

class FakeDriver : private DeviceHost {
 public:
  static constexpr u64 kRamPages = 256;
  static constexpr unsigned kIrq = 3;

  explicit FakeDriver(std::unique_ptr<VirtioDevice> device,
                      std::shared_ptr<PagePool> pool = std::make_shared<PagePool>())
      : ram(std::move(pool), kRamPages),
        mmio(static_cast<DeviceHost*>(this), DeviceId::kVirtio0, kIrq, std::move(device)) {}

  u32 reg(u64 offset) {
    u64 value = 0;
    mmio.read(offset, 4, &value);
    return static_cast<u32>(value);
  }
  void set(u64 offset, u32 value) { mmio.write(offset, 4, value); }

  /// Reset, features, DRIVER_OK with `queues` queues of 8 entries set up.
  void start(std::vector<unsigned> queues, u32 features = 0) {
    set(0x70, 0);
    set(0x70, 3);
    set(0x24, 1), set(0x20, 1), set(0x24, 0), set(0x20, features);
    set(0x70, 11);
    for (unsigned queue : queues) add_queue(queue, 8);
    set(0x70, 15);
  }
  void add_queue(unsigned queue, u32 size) {
    set(0x30, queue), set(0x38, size);
    set(0x80, static_cast<u32>(descriptors(queue))), set(0x84, 0);
    set(0x90, static_cast<u32>(available(queue))), set(0x94, 0);
    set(0xa0, static_cast<u32>(used(queue))), set(0xa4, 0);
    set(0x44, 1);
  }
  // Where a queue's parts lie.
  static u64 descriptors(unsigned queue) { return kRamBase + 0x10000 + 0x4000 * u64{queue}; }
  static u64 available(unsigned queue) { return descriptors(queue) + 0x1000; }
  static u64 used(unsigned queue) { return descriptors(queue) + 0x2000; }
  static u64 buffer(u64 n) { return kRamBase + 0x80000 + 0x1000 * n; }

  template <typename T>
  void poke(u64 address, T value) {
    u8 bytes[sizeof(T)];
    store_le(bytes, value);
    write_guest(ram, address, bytes, sizeof bytes);
  }
  template <typename T>
  T peek(u64 address) {
    u8 bytes[sizeof(T)] = {};
    read_guest(ram, address, bytes, sizeof bytes);
    return load_le<T>(bytes);
  }
  void descriptor(unsigned queue, u16 index, u64 address, u32 length, u16 flags, u16 next) {
    const u64 at = descriptors(queue) + 16 * u64{index};
    poke<u64>(at, address), poke<u32>(at + 8, length), poke<u16>(at + 12, flags), poke<u16>(at + 14, next);
  }
  /// Makes a chain available, without telling the device.
  void offer(unsigned queue, u16 head, u16 size = 8) {
    u16& index = offered_[queue];
    poke<u16>(available(queue) + 4 + 2 * u64{static_cast<u16>(index % size)}, head);
    poke<u16>(available(queue) + 2, ++index);
  }
  void kick(unsigned queue) { set(0x50, queue); }
  u16 used_count(unsigned queue) { return peek<u16>(used(queue) + 2); }
  u32 used_length(unsigned queue, u16 n) { return peek<u32>(used(queue) + 4 + 8 * u64{n} + 4); }
  /// Lets guest time pass; due events happen.
  void pass(u64 ticks) {
    now_ += ticks;
    DeviceEvent event;
    while (events_.pop_due(now_, &event)) mmio.on_event(event.payload);
  }
  bool needs_reset() { return (reg(0x70) & 64) != 0; }

  SoftMemory ram;
  VirtioMmio mmio;
  bool irq = false;

 private:
  GuestMemory& memory() override { return ram; }
  void set_irq(unsigned, bool level) override { irq = level; }
  void pulse_irq(unsigned) override {}
  void schedule(DeviceId device, u64 ticks, u32 payload) override {
    events_.add(now_ + ticks, device, payload);
  }
  u64 now() const override { return now_; }
  void unschedule(DeviceId device) override { events_.remove(device); }
  EventQueue events_;
  u64 now_ = 0;
  std::map<unsigned, u16> offered_;
};

}  // namespace shinken::test
