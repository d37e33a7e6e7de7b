#pragma once
// What a device sees of the machine, and what the machine sees of a device.
#include "monitor/base/bytes.h"
#include "monitor/base/types.h"
#include "monitor/memory/guest_memory.h"

namespace shinken {

/// Identifies a device in the event queue and in the order of simultaneous events. Part of machine_abi.
enum class DeviceId : u8 { kUart = 0, kGeneration = 1, kVirtio0 = 16, kNet = 32 };

/// Implemented by the board (and by test benches).
class DeviceHost {
 public:
  virtual ~DeviceHost() = default;
  virtual GuestMemory& memory() = 0;
  /// Level of an interrupt line (1..31).
  virtual void set_irq(unsigned line, bool level) = 0;
  /// One edge on an interrupt line.
  virtual void pulse_irq(unsigned line) = 0;
  /// Calls the device's `on_event(payload)` when guest time has advanced by `ticks`.
  virtual void schedule(DeviceId device, u64 ticks, u32 payload) = 0;
  /// Guest time in ticks.
  virtual u64 now() const = 0;
  /// Forgets the device's scheduled events.
  virtual void unschedule(DeviceId device) = 0;
  /// The guest made the device move, or look at, so many bytes: time of the host that no instruction shows.
  virtual void charge(u64 bytes) { (void)bytes; }
};

class Device {
 public:
  virtual ~Device() = default;
  /// `offset` is within the device's window, `size` in {1,2,4,8}. False: access fault.
  virtual bool read(u64 offset, unsigned size, u64* value) = 0;
  virtual bool write(u64 offset, unsigned size, u64 value) = 0;
  virtual void on_event(u32 payload) { (void)payload; }
  /// Guest-visible state only, the same bytes for the same state. `load` reports nonsense with `from.fail()`.
  virtual void save(ByteWriter& to) const = 0;
  virtual void load(ByteReader& from) = 0;
};

}  // namespace shinken
