#include "monitor/engine/parked_caches.h"

#include <algorithm>

namespace shinken {

void ParkedCaches::park(const std::shared_ptr<Machine>& machine, u64 bytes) {
  leave(machine.get());
  if (bytes == 0) return;
  places_[machine.get()] = entries_.insert(entries_.end(), {machine.get(), machine, bytes});
  if (entries_.size() >= sweep_at_) forget_gone();
}

void ParkedCaches::leave(const Machine* machine) {
  const auto found = places_.find(machine);
  if (found == places_.end()) return;
  entries_.erase(found->second);
  places_.erase(found);
}

std::vector<std::shared_ptr<Machine>> ParkedCaches::take(u64 bytes) {
  std::vector<std::shared_ptr<Machine>> taken;
  while (bytes > 0 && !entries_.empty()) {
    const Entry& oldest = entries_.front();
    if (auto machine = oldest.machine.lock()) {
      bytes -= std::min(bytes, oldest.bytes);
      taken.push_back(std::move(machine));
    }
    places_.erase(oldest.key);
    entries_.pop_front();
  }
  return taken;
}

/// Now and then, so that the list stays in proportion to the machines that are open.
void ParkedCaches::forget_gone() {
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (!at->machine.expired()) {
      ++at;
      continue;
    }
    places_.erase(at->key);
    at = entries_.erase(at);
  }
  sweep_at_ = std::max<u64>(1024, 2 * entries_.size());
}

}  // namespace shinken
