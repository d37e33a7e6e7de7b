#pragma once
// The part of a virtio device that is independent of its transport.
#include "monitor/devices/device.h"
#include "monitor/devices/virtqueue.h"

namespace shinken {

/// What the transport offers to its device.
class VirtioTransport {
 public:
  virtual ~VirtioTransport() = default;
  virtual GuestMemory& memory() = 0;
  virtual Virtqueue& queue(unsigned index) = 0;
  /// Buffers of this queue were used: interrupts if the driver wants it.
  virtual void notify_used(unsigned index) = 0;
  /// The driver broke a rule: sets DEVICE_NEEDS_RESET. Nothing is processed until it resets the device.
  virtual void fail() = 0;
  /// Calls `on_event(payload)` after `ticks` of guest time.
  virtual void schedule(u64 ticks, u32 payload) = 0;
  /// Guest time in ticks.
  virtual u64 now() const = 0;
  /// As `DeviceHost::charge`; for what was popped.
  virtual void charge(const Chain& chain) = 0;
  /// The host changed the configuration space: a new generation of it, and an interrupt if that is wanted and
  /// the driver is at work.
  virtual void config_changed(bool interrupt) = 0;
};

class VirtioDevice {
 public:
  virtual ~VirtioDevice() = default;
  void attach(VirtioTransport* transport) { transport_ = transport; }

  virtual u32 type() const = 0;
  /// Feature bits offered, without VIRTIO_F_VERSION_1, which the transport adds.
  virtual u64 features() const = 0;
  virtual unsigned queues() const = 0;
  /// Entries that a queue may have at most; a power of two up to kMaxQueueSize.
  virtual u16 queue_size() const { return kMaxQueueSize; }
  /// The driver notified this queue.
  virtual void notify(unsigned queue) = 0;
  virtual void on_event(u32 payload) { (void)payload; }
  /// Device configuration space; bytes beyond it read as 0.
  virtual std::vector<u8> config() const = 0;
  virtual void reset() = 0;
  virtual void save(ByteWriter& to) const = 0;
  virtual void load(ByteReader& from) = 0;

 protected:
  VirtioTransport* transport_ = nullptr;
};

}  // namespace shinken
