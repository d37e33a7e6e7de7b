#pragma once
// Device completions at virtual deadlines, in the one order (deadline, device, sequence).
#include <vector>

#include "monitor/devices/device.h"

namespace shinken {

struct DeviceEvent {
  u64 deadline;  // guest ticks
  DeviceId device;
  u64 sequence;
  u32 payload;
};

class EventQueue {
 public:
  static constexpr std::size_t kMaxEvents = 256;  // each device schedules at most one per queue

  void add(u64 deadline, DeviceId device, u32 payload);
  void remove(DeviceId device);
  /// Deadline of the first event, or ~0.
  u64 next_deadline() const { return events_.empty() ? ~u64{0} : events_.front().deadline; }
  /// Takes the first event if it is due.
  bool pop_due(u64 now, DeviceEvent* event);
  void save(ByteWriter& to) const;
  void load(ByteReader& from);

 private:
  std::vector<DeviceEvent> events_;  // sorted; a handful
  u64 sequence_ = 0;
};

}  // namespace shinken
