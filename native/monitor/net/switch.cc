#include "monitor/net/switch.h"

#include <algorithm>
#include <tuple>

namespace shinken {
namespace {

constexpr u8 kGroupBit = 1;  // of an address's first byte: broadcast and multicast

MacAddress address_at(std::span<const u8> frame, std::size_t at) {
  MacAddress address;
  std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(at), address.size(), address.begin());
  return address;
}

}  // namespace

bool EthernetSwitch::take(unsigned port, u64 moment, std::span<const u8> frame) {
  if (port >= ports_ || held_.size() >= kMaxHeld || frame.size() < VirtioNet::kMinFrameBytes) return false;
  held_.push_back({moment, port, {frame.begin(), frame.end()}});
  return true;
}

void EthernetSwitch::drain(
    const std::function<void(unsigned port, u64 moment, std::span<const u8> frame)>& deliver) {
  std::vector<Held> held;
  held.swap(held_);
  std::stable_sort(held.begin(), held.end(), [](const Held& a, const Held& b) {
    return std::tie(a.moment, a.port) < std::tie(b.moment, b.port);
  });
  for (const Held& one : held) {
    const MacAddress destination = address_at(one.frame, 0);
    learn(one.port, address_at(one.frame, destination.size()));
    const auto known = behind_.find(destination);
    for (unsigned port = 0; port < ports_; ++port) {
      if (port == one.port || (known != behind_.end() && known->second != port)) continue;
      deliver(port, one.moment, one.frame);
    }
  }
}

void EthernetSwitch::learn(unsigned port, const MacAddress& source) {
  if ((source[0] & kGroupBit) != 0) return;  // no station has such an address
  const auto known = behind_.find(source);
  if (known != behind_.end()) {
    known->second = port;
  } else if (behind_.size() < kMaxAddresses) {
    behind_.emplace(source, port);
  }
}

}  // namespace shinken
