#include "monitor/devices/event_queue.h"

#include <algorithm>
#include <tuple>

namespace shinken {
namespace {

bool before(const DeviceEvent& a, const DeviceEvent& b) {
  return std::tie(a.deadline, a.device, a.sequence) < std::tie(b.deadline, b.device, b.sequence);
}

}  // namespace

void EventQueue::add(u64 deadline, DeviceId device, u32 payload) {
  if (events_.size() >= kMaxEvents) return;
  const DeviceEvent event{deadline, device, sequence_++, payload};
  events_.insert(std::upper_bound(events_.begin(), events_.end(), event, before), event);
}

void EventQueue::remove(DeviceId device) {
  std::erase_if(events_, [&](const DeviceEvent& event) { return event.device == device; });
}

bool EventQueue::pop_due(u64 now, DeviceEvent* event) {
  if (next_deadline() > now || events_.empty()) return false;
  *event = events_.front();
  events_.erase(events_.begin());
  return true;
}

void EventQueue::save(ByteWriter& to) const {
  to.put<u64>(sequence_);
  to.put<u32>(static_cast<u32>(events_.size()));
  for (const DeviceEvent& event : events_) {
    to.put<u64>(event.deadline);
    to.put<u8>(static_cast<u8>(event.device));
    to.put<u64>(event.sequence);
    to.put<u32>(event.payload);
  }
}

void EventQueue::load(ByteReader& from) {
  events_.clear();
  sequence_ = from.get<u64>();
  const u32 count = from.get<u32>();
  if (count > kMaxEvents) return from.fail();
  for (u32 i = 0; i < count && from.ok(); ++i) {
    DeviceEvent event{};
    event.deadline = from.get<u64>();
    event.device = static_cast<DeviceId>(from.get<u8>());
    event.sequence = from.get<u64>();
    event.payload = from.get<u32>();
    if (!events_.empty() && !before(events_.back(), event)) return from.fail();
    events_.push_back(event);
  }
}

}  // namespace shinken
