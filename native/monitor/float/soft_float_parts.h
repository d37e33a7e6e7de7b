#pragma once
// Unpacked numbers and rounding, shared by the soft-float files; not for others.
#include <bit>

#include "monitor/float/soft_float.h"

namespace shinken::fp {

using u128 = unsigned __int128;

/// A finite non-zero number: significand * 2^(exponent - bias - 62), significand in [2^62, 2^63).
struct Unpacked {
  bool negative;
  int exponent;
  u64 significand;
};

/// The bit that leads an unpacked significand.
inline constexpr unsigned kLead = 62;

/// Right shift in which every lost one bit makes the last bit one, so that later rounding sees it.
inline u64 shift_right_jam(u64 v, unsigned n) {
  if (n == 0) return v;
  if (n >= 64) return v != 0;
  return (v >> n) | ((v << (64 - n)) != 0);
}
inline u128 shift_right_jam(u128 v, unsigned n) {
  if (n == 0) return v;
  if (n >= 128) return v != 0;
  return (v >> n) | ((v << (128 - n)) != 0);
}

template <class F>
Unpacked unpack(u64 v) {
  const bool negative = (v & F::sign_mask) != 0;
  int exponent = static_cast<int>((v & ~F::sign_mask) >> F::fraction_bits);
  u64 fraction = v & F::fraction_mask;
  if (exponent != 0)
    return {negative, exponent, (fraction | (F::fraction_mask + 1)) << (kLead - F::fraction_bits)};
  const int shift = std::countl_zero(fraction) - 1;
  return {negative, static_cast<int>(kLead - F::fraction_bits) + 1 - shift, fraction << shift};
}

/// What rounding adds before the extra bits are cut off.
inline u64 rounding_increment(bool negative, unsigned rounding, unsigned extra) {
  const u64 mask = (u64{1} << extra) - 1;
  switch (rounding) {
    case kTowardZero:
      return 0;
    case kDown:
      return negative ? mask : 0;
    case kUp:
      return negative ? 0 : mask;
    default:
      return u64{1} << (extra - 1);
  }
}

template <class F>
u64 overflow_result(bool negative, unsigned rounding, unsigned* flags) {
  *flags |= kOverflow | kInexact;
  const bool to_largest =
      rounding == kTowardZero || (rounding == kDown && !negative) || (rounding == kUp && negative);
  return (negative ? F::sign_mask : 0) | (to_largest ? F::infinity - 1 : F::infinity);
}

/// Rounds and packs; the significand may carry a jammed last bit.
template <class F>
u64 round_pack(bool negative, int exponent, u64 significand, unsigned rounding, unsigned* flags) {
  constexpr unsigned extra = kLead - F::fraction_bits;
  constexpr u64 mask = (u64{1} << extra) - 1;
  const u64 increment = rounding_increment(negative, rounding, extra);
  bool tiny = false;
  if (exponent <= 0) {
    // After rounding: not tiny if an unbounded exponent would have carried up to the smallest normal number.
    tiny = exponent < 0 || significand + increment < (u64{1} << (kLead + 1));
    significand = shift_right_jam(significand, static_cast<unsigned>(1 - exponent));
    exponent = 1;
  }
  const u64 lost = significand & mask;
  if (lost != 0) *flags |= tiny ? kInexact | kUnderflow : unsigned{kInexact};
  u64 rounded = (significand + increment) >> extra;
  if (rounding == kNearestEven && lost == (u64{1} << (extra - 1))) rounded &= ~u64{1};
  // The leading one, where there is one, adds one to the exponent field.
  const u64 magnitude = (static_cast<u64>(exponent - 1) << F::fraction_bits) + rounded;
  if (exponent >= F::exponent_max || magnitude >= F::infinity)
    return overflow_result<F>(negative, rounding, flags);
  return (negative ? F::sign_mask : 0) | magnitude;
}

/// Normalises a non-zero 128-bit significand that stands for value * 2^(exponent - bias - 124), then rounds.
template <class F>
u64 round_pack_wide(bool negative, int exponent, u128 value, unsigned rounding, unsigned* flags) {
  const u64 high = static_cast<u64>(value >> 64);
  const int zeros = high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<u64>(value));
  const int lead = 127 - zeros;
  exponent += lead - 124;
  const u64 significand = lead >= static_cast<int>(kLead)
                              ? static_cast<u64>(shift_right_jam(value, static_cast<unsigned>(lead) - kLead))
                              : static_cast<u64>(value) << (static_cast<int>(kLead) - lead);
  return round_pack<F>(negative, exponent, significand, rounding, flags);
}

/// The result of an operation with a NaN among its operands.
template <class F>
u64 propagate_nan(u64 a, u64 b, unsigned* flags) {
  if (F::is_signaling(a) || F::is_signaling(b)) *flags |= kInvalid;
  return F::canonical_nan;
}

template <class F>
u64 invalid(unsigned* flags) {
  *flags |= kInvalid;
  return F::canonical_nan;
}

}  // namespace shinken::fp
