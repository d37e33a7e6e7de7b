#include "monitor/snapshot/state_difference.h"

#include <algorithm>
#include <cstring>

#include "monitor/snapshot/golden_impl.h"

namespace shinken {
namespace {

bool same_bytes(const Page* one, const Page* other) {
  alignas(kPageSize) static const u8 zeros[kPageSize] = {};
  return std::memcmp(one == nullptr ? zeros : one->data, other == nullptr ? zeros : other->data, kPageSize) ==
         0;
}

}  // namespace

StateDifference compare_states(const Golden& one, const Golden& other) {
  const Golden::Impl &a = one.impl(), &b = other.impl();
  StateDifference found;
  const StateParts mine = state_parts(a.state, a.disks), others = state_parts(b.state, b.disks);
  for (std::size_t i = 0; i < mine.registers.size(); ++i) {
    const auto& [name, value] = mine.registers[i];
    if (value != others.registers[i].second)
      found.registers.push_back({name, value, others.registers[i].second});
  }
  if (a.disks.size() != b.disks.size()) {
    found.devices.push_back("disks");
  } else {
    for (std::size_t i = 0; i < mine.devices.size(); ++i) {
      if (mine.devices[i].second != others.devices[i].second) found.devices.push_back(mine.devices[i].first);
    }
  }
  if (a.image->pages() != b.image->pages()) {
    found.pages = std::max(a.image->pages(), b.image->pages());
    return found;
  }
  a.image->for_each_difference(*b.image, [&](u64 number, Page* page) {
    if (same_bytes(page, b.image->find(number))) return;
    ++found.pages;
    if (found.first_pages.size() < StateDifference::kPagesNamed) found.first_pages.push_back(number);
  });
  return found;
}

}  // namespace shinken
