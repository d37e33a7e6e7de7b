#pragma once
// virtio over memory-mapped registers, version 2 (Virtual I/O Device 1.2, 4.2.2).
#include <memory>

#include "monitor/devices/virtio_device.h"

namespace shinken {

class VirtioMmio final : public Device, private VirtioTransport {
 public:
  static constexpr u64 kWindow = 0x200;
  static constexpr unsigned kMaxQueues = 8;

  VirtioMmio(DeviceHost* host, DeviceId id, unsigned irq, std::unique_ptr<VirtioDevice> device);

  bool read(u64 offset, unsigned size, u64* value) override;
  bool write(u64 offset, unsigned size, u64 value) override;
  void on_event(u32 payload) override;
  void save(ByteWriter& to) const override;
  void load(ByteReader& from) override;

 private:
  GuestMemory& memory() override { return host_->memory(); }
  Virtqueue& queue(unsigned index) override { return queues_[index]; }
  void notify_used(unsigned index) override;
  void fail() override;
  void schedule(u64 ticks, u32 payload) override { host_->schedule(id_, ticks, payload); }
  u64 now() const override { return host_->now(); }
  void charge(const Chain& chain) override {
    host_->charge(chain.readable_bytes + chain.writable_bytes + chain.links * kLinkWork);
  }
  void config_changed(bool interrupt) override;

  u32 read_register(u64 offset) const;
  void write_register(u64 offset, u32 value);
  void set_status(u32 value);
  void reset();
  bool live() const;
  void update() { host_->set_irq(irq_, interrupt_ != 0); }
  u64 offered() const;

  DeviceHost* host_;
  DeviceId id_;
  unsigned irq_;
  std::unique_ptr<VirtioDevice> device_;
  Virtqueue queues_[kMaxQueues];
  u32 status_ = 0, interrupt_ = 0;
  u32 features_select_ = 0, driver_select_ = 0, queue_select_ = 0, config_generation_ = 0;
  u64 driver_features_ = 0;
};

}  // namespace shinken
