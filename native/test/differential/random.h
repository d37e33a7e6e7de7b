#pragma once
// A seeded generator of its own, so that a failing seed means the same program on every host.
#include "monitor/base/types.h"

namespace shinken::test {

class Random {
 public:
  /// Mixed, since the states of neighbouring seeds must not be neighbours in one and the same stream.
  explicit Random(u64 seed) : state_(mixed(mixed(seed) + 0x1234567)) {}
  u64 next() {
    state_ += 0x9e3779b97f4a7c15;
    return mixed(state_);
  }
  /// Uniform enough in [0, n).
  u32 below(u32 n) { return static_cast<u32>((next() >> 32) * n >> 32); }
  bool chance(u32 percent) { return below(100) < percent; }

 private:
  static u64 mixed(u64 z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  u64 state_;
};

/// Integers near the places where arithmetic goes wrong.
inline u64 interesting_integer(Random& random) {
  static constexpr u64 corners[] = {0,
                                    1,
                                    2,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x7fff,
                                    0x8000,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x100000000,
                                    u64{1} << 62,
                                    (u64{1} << 63) - 1,
                                    u64{1} << 63,
                                    ~u64{0}};
  const u64 any = random.next();
  switch (random.below(4)) {
    case 0:
      return corners[random.below(sizeof corners / sizeof corners[0])] + random.below(3) - 1;
    case 1:
      return any >> random.below(64);
    case 2:
      return static_cast<u64>(static_cast<i64>(any) >> random.below(64));
    default:
      return any;
  }
}

/// Floating-point registers: both formats, boxed and not, every class of number, close exponents, exact ties.
inline u64 interesting_float(Random& random) {
  static constexpr u64 doubles[] = {
      0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000,
      0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0xfff8000000000123, 0x7fefffffffffffff,
      0xffefffffffffffff, 0x0010000000000000, 0x000fffffffffffff, 0x0000000000000001, 0x8000000000000001,
      0x3fe0000000000000, 0x41dfffffffc00000, 0xc1e0000000000000, 0x41f0000000000000, 0x43e0000000000000,
      0xc3e0000000000000, 0x43f0000000000000, 0x3ff8000000000000, 0x4004000000000000};
  static constexpr u32 singles[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                    0x7fc00000, 0x7f800001, 0xffc00123, 0x7f7fffff, 0xff7fffff, 0x00800000,
                                    0x007fffff, 0x00000001, 0x80000001, 0x3f000000, 0x4effffff, 0xcf000000,
                                    0x4f800000, 0x5f000000, 0xdf000000, 0x5f800000, 0x3fc00000, 0x40200000};
  constexpr u64 box = 0xffffffff00000000;
  const u64 any = random.next();
  switch (random.below(8)) {
    case 0:
      return doubles[random.below(24)];
    case 1:
      return box | singles[random.below(24)];
    case 2:
      return any;
    case 3:
      return box | (any & 0xffffffff);
    case 4:  // a double near 1, sometimes with a short significand
      return (any & 0x800fffffffffffff & ~((u64{1} << random.below(53)) - 1)) |
             (0x3ff - 4 + u64{random.below(9)}) << 52;
    case 5:
      return box |
             ((any & 0x807fffff & ~((1u << random.below(24)) - 1)) | (0x7f - 4 + random.below(9)) << 23);
    case 6:  // near underflow and overflow
      return (any & 0x800fffffffffffff) | u64{random.chance(50) ? random.below(60) : 0x7ff - random.below(60)}
                                              << 52;
    default:
      return box |
             ((any & 0x807fffff) | (random.chance(50) ? random.below(30) : 0xff - random.below(30)) << 23);
  }
}

}  // namespace shinken::test
