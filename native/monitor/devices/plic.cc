#include "monitor/devices/plic.h"

namespace shinken {
namespace {
constexpr u64 kPending = 0x1000, kEnable = 0x2000, kThreshold = 0x200000, kClaim = 0x200004;
constexpr u32 kMaxPriority = 7;

u32 bit(unsigned source) {
  return u32{1} << source;
}
}  // namespace

/// Pending and enabled source of the highest priority above the threshold, lowest number first; 0 if none.
unsigned Plic::best() const {
  unsigned found = 0;
  u32 top = threshold_;
  for (u32 left = pending() & enabled_ & ~u32{1}; left != 0; left &= left - 1) {
    const unsigned source = static_cast<unsigned>(__builtin_ctz(left));
    if (priority_[source] > top) {
      top = priority_[source];
      found = source;
    }
  }
  return found;
}

void Plic::set_level(unsigned source, bool level) {
  const u32 was = level_;
  level_ = level ? level_ | bit(source) : level_ & ~bit(source);
  if (level_ != was) update();
}

void Plic::pulse(unsigned source) {
  latched_ |= bit(source);
  update();
}

bool Plic::read(u64 offset, unsigned size, u64* value) {
  if (size != 4 || offset % 4 != 0) return false;
  *value = 0;
  if (offset < 4 * kSources) {
    *value = priority_[offset / 4];
  } else if (offset == kPending) {
    *value = pending();
  } else if (offset == kEnable) {
    *value = enabled_;
  } else if (offset == kThreshold) {
    *value = threshold_;
  } else if (offset == kClaim) {
    const unsigned source = best();
    if (source != 0) {
      // An edge is taken whole; a level stays masked until its handler completes.
      if ((latched_ & bit(source)) != 0) {
        latched_ &= ~bit(source);
      } else {
        claimed_ |= bit(source);
      }
      update();
    }
    *value = source;
  }
  return true;
}

bool Plic::write(u64 offset, unsigned size, u64 value) {
  if (size != 4 || offset % 4 != 0) return false;
  const u32 word = static_cast<u32>(value);
  if (offset < 4 * kSources) {
    if (offset != 0) priority_[offset / 4] = word & kMaxPriority;
  } else if (offset == kEnable) {
    enabled_ = word & ~u32{1};
  } else if (offset == kThreshold) {
    threshold_ = word & kMaxPriority;
  } else if (offset == kClaim) {
    if (word < kSources) claimed_ &= ~bit(word);
  }
  update();
  return true;
}

void Plic::save(ByteWriter& to) const {
  for (u32 priority : priority_) to.put<u8>(static_cast<u8>(priority));
  for (u32 word : {enabled_, threshold_, level_, latched_, claimed_}) to.put<u32>(word);
}

void Plic::load(ByteReader& from) {
  for (u32& priority : priority_) priority = from.get<u8>() & kMaxPriority;
  for (u32* word : {&enabled_, &threshold_, &level_, &latched_, &claimed_}) *word = from.get<u32>();
  threshold_ &= kMaxPriority;
  update();
}

}  // namespace shinken
