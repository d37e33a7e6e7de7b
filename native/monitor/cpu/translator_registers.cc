// Which guest register is in which host register.
#include <algorithm>

#include "monitor/cpu/translator.h"

namespace shinken {

using namespace x86;
using namespace native;

Reg Translator::holding(i32 what) {
  for (unsigned i = 0; i < std::size(slots_); ++i) {
    if (slots_[i].holds != what) continue;
    slots_[i].used = index_ + 1;
    return kPool[i];
  }
  return kNone;
}

/// The register that was not used for longest; what the current operation uses stays.
Reg Translator::claim(i32 holds) {
  Slot* oldest = std::min_element(std::begin(slots_), std::end(slots_),
                                  [](const Slot& a, const Slot& b) { return a.used < b.used; });
  if (oldest->holds >= kGroups) groups_[oldest->holds - kGroups].live = false;
  *oldest = {holds, index_ + 1};
  return kPool[oldest - slots_];
}

/// The register that holds a guest register's value. The flags stay.
Reg Translator::use(unsigned guest) {
  if (const Reg reg = holding(static_cast<i32>(guest)); reg != kNone) return reg;
  const Reg reg = claim(static_cast<i32>(guest));
  w_.load(reg, state_of(guest));
  return reg;
}

/// A register for the new value of `guest`; may be the one with the old value.
Reg Translator::define(unsigned guest) {
  if (const Reg reg = holding(static_cast<i32>(guest)); reg != kNone) return reg;
  return claim(static_cast<i32>(guest));
}

/// To be called when `reg`, from `define`, has the value.
void Translator::defined(unsigned guest, Reg reg) {
  w_.store(state_of(guest), reg);
  for (unsigned i = 0; i < std::size(groups_); ++i) {
    if (!groups_[i].live || groups_[i].base != guest) continue;
    groups_[i].live = false;
    for (Slot& slot : slots_) {
      if (slot.holds == kGroups + static_cast<i32>(i)) slot = {};
    }
  }
}

}  // namespace shinken
