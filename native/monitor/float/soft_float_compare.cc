// Comparisons, minimum and maximum, classification and conversions.
#include "monitor/float/soft_float.h"
#include "monitor/float/soft_float_parts.h"

namespace shinken::fp {

namespace {

/// Order of two numbers that are not NaN; the zeros are equal.
template <class F>
bool ordered_less(u64 a, u64 b) {
  const bool negative_a = (a & F::sign_mask) != 0;
  const bool negative_b = (b & F::sign_mask) != 0;
  if (negative_a != negative_b) return negative_a && !(F::is_zero(a) && F::is_zero(b));
  return negative_a ? a > b : a < b;
}

template <class F>
u64 select(u64 a, u64 b, bool minimum, unsigned* flags) {
  if (F::is_signaling(a) || F::is_signaling(b)) *flags |= kInvalid;
  if (F::is_nan(a)) return F::is_nan(b) ? F::canonical_nan : b;
  if (F::is_nan(b)) return a;
  // -0 is less than +0 here, though equal in comparisons.
  const bool a_less = F::is_zero(a) && F::is_zero(b) ? (a & F::sign_mask) != 0 : ordered_less<F>(a, b);
  return a_less == minimum ? a : b;
}

/// Rounds a magnitude of `extra` fraction bits (1..63) to an integer.
u64 round_integer(u64 whole, u64 fraction_top_aligned, bool negative, unsigned rounding, unsigned* flags) {
  if (fraction_top_aligned == 0) return whole;
  *flags |= kInexact;
  constexpr u64 half = u64{1} << 63;
  bool up = false;
  switch (rounding) {
    case kNearestEven:
      up = fraction_top_aligned > half || (fraction_top_aligned == half && (whole & 1));
      break;
    case kDown:
      up = negative;
      break;
    case kUp:
      up = !negative;
      break;
    case kNearestAway:
      up = fraction_top_aligned >= half;
      break;
    default:
      break;
  }
  return whole + (up ? 1 : 0);
}

u64 saturated(bool negative, bool is_signed, unsigned bits) {
  if (is_signed) {
    if (bits == 32) return negative ? ~u64{0x7fffffff} : 0x7fffffff;
    return negative ? u64{1} << 63 : ~(u64{1} << 63);
  }
  return negative ? 0 : ~u64{0};
}

}  // namespace

template <unsigned E, unsigned M>
u64 Format<E, M>::min(u64 a, u64 b, unsigned* flags) {
  return select<Format>(a, b, true, flags);
}
template <unsigned E, unsigned M>
u64 Format<E, M>::max(u64 a, u64 b, unsigned* flags) {
  return select<Format>(a, b, false, flags);
}

template <unsigned E, unsigned M>
bool Format<E, M>::equal(u64 a, u64 b, unsigned* flags) {
  if (is_nan(a) || is_nan(b)) {
    propagate_nan<Format>(a, b, flags);
    return false;
  }
  return a == b || (is_zero(a) && is_zero(b));
}
template <unsigned E, unsigned M>
bool Format<E, M>::less(u64 a, u64 b, unsigned* flags) {
  if (is_nan(a) || is_nan(b)) {
    *flags |= kInvalid;
    return false;
  }
  return ordered_less<Format>(a, b);
}
template <unsigned E, unsigned M>
bool Format<E, M>::less_equal(u64 a, u64 b, unsigned* flags) {
  if (is_nan(a) || is_nan(b)) {
    *flags |= kInvalid;
    return false;
  }
  return !ordered_less<Format>(b, a);
}

template <unsigned E, unsigned M>
unsigned Format<E, M>::classify(u64 a) {
  const bool negative = (a & sign_mask) != 0;
  if (is_nan(a)) return is_signaling(a) ? 1u << 8 : 1u << 9;
  if (is_infinite(a)) return negative ? 1u << 0 : 1u << 7;
  if (is_zero(a)) return negative ? 1u << 3 : 1u << 4;
  if ((a & infinity) == 0) return negative ? 1u << 2 : 1u << 5;
  return negative ? 1u << 1 : 1u << 6;
}

template <unsigned E, unsigned M>
u64 Format<E, M>::to_integer(u64 a, bool is_signed, unsigned width, unsigned rounding, unsigned* flags) {
  if (is_nan(a) || is_infinite(a)) {
    *flags |= kInvalid;
    return saturated(!is_nan(a) && (a & sign_mask), is_signed, width);
  }
  if (is_zero(a)) return 0;
  const Unpacked x = unpack<Format>(a);
  const int power = x.exponent - bias;  // value = significand * 2^(power - 62)
  unsigned raised = 0;
  u64 magnitude = 0;
  if (power > 63) {
    *flags |= kInvalid;
    return saturated(x.negative, is_signed, width);
  }
  if (power == 63) {
    magnitude = x.significand << 1;
  } else if (power >= -1) {
    const unsigned extra = static_cast<unsigned>(static_cast<int>(kLead) - power);
    const u64 whole = extra >= 64 ? 0 : x.significand >> extra;
    const u64 fraction = extra == 0 ? 0 : x.significand << (64 - extra);
    magnitude = round_integer(whole, fraction, x.negative, rounding, &raised);
  } else {
    magnitude = round_integer(0, 1, x.negative, rounding, &raised);
  }
  const u64 limit = is_signed ? (u64{1} << (width - 1)) - (x.negative ? 0 : 1)
                              : (x.negative ? 0 : (width == 64 ? ~u64{0} : 0xffffffff));
  if (magnitude > limit) {
    *flags |= kInvalid;
    return saturated(x.negative, is_signed, width);
  }
  *flags |= raised;
  const u64 value = x.negative ? 0 - magnitude : magnitude;
  return width == 32 ? static_cast<u64>(static_cast<i64>(static_cast<i32>(value))) : value;
}

template <unsigned E, unsigned M>
u64 Format<E, M>::from_integer(u64 value, bool is_signed, unsigned rounding, unsigned* flags) {
  if (value == 0) return 0;
  const bool negative = is_signed && static_cast<i64>(value) < 0;
  const u64 magnitude = negative ? 0 - value : value;
  const int zeros = std::countl_zero(magnitude);
  const u64 significand = zeros == 0 ? shift_right_jam(magnitude, 1) : magnitude << (zeros - 1);
  return round_pack<Format>(negative, bias + 63 - zeros, significand, rounding, flags);
}

u64 widen(u64 a, unsigned* flags) {
  if (F32::is_nan(a)) {
    propagate_nan<F32>(a, a, flags);
    return F64::canonical_nan;
  }
  const u64 sign = a & F32::sign_mask ? F64::sign_mask : 0;
  if (F32::is_infinite(a)) return sign | F64::infinity;
  if (F32::is_zero(a)) return sign;
  const Unpacked x = unpack<F32>(a);
  return round_pack<F64>(x.negative, x.exponent - F32::bias + F64::bias, x.significand, kNearestEven, flags);
}

u64 narrow(u64 a, unsigned rounding, unsigned* flags) {
  if (F64::is_nan(a)) {
    propagate_nan<F64>(a, a, flags);
    return F32::canonical_nan;
  }
  const u64 sign = a & F64::sign_mask ? F32::sign_mask : 0;
  if (F64::is_infinite(a)) return sign | F32::infinity;
  if (F64::is_zero(a)) return sign;
  const Unpacked x = unpack<F64>(a);
  return round_pack<F32>(x.negative, x.exponent - F64::bias + F32::bias, x.significand, rounding, flags);
}

#define SHINKEN_INSTANTIATE(F)                                          \
  template u64 F::min(u64, u64, unsigned*);                             \
  template u64 F::max(u64, u64, unsigned*);                             \
  template bool F::equal(u64, u64, unsigned*);                          \
  template bool F::less(u64, u64, unsigned*);                           \
  template bool F::less_equal(u64, u64, unsigned*);                     \
  template unsigned F::classify(u64);                                   \
  template u64 F::to_integer(u64, bool, unsigned, unsigned, unsigned*); \
  template u64 F::from_integer(u64, bool, unsigned, unsigned*);
SHINKEN_INSTANTIATE(F32)
SHINKEN_INSTANTIATE(F64)
#undef SHINKEN_INSTANTIATE

}  // namespace shinken::fp
