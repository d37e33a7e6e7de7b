#include "monitor/float/soft_float.h"

#include "monitor/float/soft_float_parts.h"

namespace shinken::fp {

template <unsigned E, unsigned M>
u64 Format<E, M>::add(u64 a, u64 b, unsigned rounding, unsigned* flags) {
  return add_signed(a, b, false, rounding, flags);
}

template <unsigned E, unsigned M>
u64 Format<E, M>::add_signed(u64 a, u64 b, bool negate_b, unsigned rounding, unsigned* flags) {
  if (is_nan(a) || is_nan(b)) return propagate_nan<Format>(a, b, flags);
  if (negate_b) b ^= sign_mask;
  const u64 zero = rounding == kDown ? sign_mask : 0;
  if (is_infinite(a)) return is_infinite(b) && a != b ? invalid<Format>(flags) : a;
  if (is_infinite(b)) return b;
  if (is_zero(a)) return is_zero(b) ? (a == b ? a : zero) : b;
  if (is_zero(b)) return a;
  Unpacked x = unpack<Format>(a);
  Unpacked y = unpack<Format>(b);
  if (x.exponent < y.exponent || (x.exponent == y.exponent && x.significand < y.significand)) {
    const Unpacked larger = y;
    y = x;
    x = larger;
  }
  const u64 aligned = shift_right_jam(y.significand, static_cast<unsigned>(x.exponent - y.exponent));
  if (x.negative == y.negative) {
    u64 sum = x.significand + aligned;
    if (sum >> (kLead + 1)) {
      sum = shift_right_jam(sum, 1);
      ++x.exponent;
    }
    return round_pack<Format>(x.negative, x.exponent, sum, rounding, flags);
  }
  const u64 difference = x.significand - aligned;
  if (difference == 0) return zero;
  const int shift = std::countl_zero(difference) - 1;
  return round_pack<Format>(x.negative, x.exponent - shift, difference << shift, rounding, flags);
}

template <unsigned E, unsigned M>
u64 Format<E, M>::mul(u64 a, u64 b, unsigned rounding, unsigned* flags) {
  if (is_nan(a) || is_nan(b)) return propagate_nan<Format>(a, b, flags);
  const u64 sign = (a ^ b) & sign_mask;
  if (is_infinite(a) || is_infinite(b)) {
    return is_zero(a) || is_zero(b) ? invalid<Format>(flags) : sign | infinity;
  }
  if (is_zero(a) || is_zero(b)) return sign;
  const Unpacked x = unpack<Format>(a);
  const Unpacked y = unpack<Format>(b);
  return round_pack_wide<Format>(sign != 0, x.exponent + y.exponent - bias,
                                 u128{x.significand} * y.significand, rounding, flags);
}

template <unsigned E, unsigned M>
u64 Format<E, M>::div(u64 a, u64 b, unsigned rounding, unsigned* flags) {
  if (is_nan(a) || is_nan(b)) return propagate_nan<Format>(a, b, flags);
  const u64 sign = (a ^ b) & sign_mask;
  if (is_infinite(a)) return is_infinite(b) ? invalid<Format>(flags) : sign | infinity;
  if (is_infinite(b)) return sign;
  if (is_zero(b)) {
    if (is_zero(a)) return invalid<Format>(flags);
    *flags |= kDivideByZero;
    return sign | infinity;
  }
  if (is_zero(a)) return sign;
  const Unpacked x = unpack<Format>(a);
  const Unpacked y = unpack<Format>(b);
  const bool smaller = x.significand < y.significand;
  const u128 dividend = u128{x.significand} << (smaller ? kLead + 1 : kLead);
  u64 quotient = static_cast<u64>(dividend / y.significand);
  if (u128{quotient} * y.significand != dividend) quotient |= 1;
  return round_pack<Format>(sign != 0, x.exponent - y.exponent + bias - (smaller ? 1 : 0), quotient, rounding,
                            flags);
}

namespace {

/// floor(sqrt(v)) for v in [2^124, 2^126), one result bit at a time.
u64 integer_sqrt(u128 v) {
  u64 root = 0;
  for (int bit = static_cast<int>(kLead); bit >= 0; --bit) {
    const u64 candidate = root | u64{1} << bit;
    if (u128{candidate} * candidate <= v) root = candidate;
  }
  return root;
}

}  // namespace

template <unsigned E, unsigned M>
u64 Format<E, M>::sqrt(u64 a, unsigned rounding, unsigned* flags) {
  if (is_nan(a)) return propagate_nan<Format>(a, a, flags);
  if (is_zero(a)) return a;
  if (a & sign_mask) return invalid<Format>(flags);
  if (is_infinite(a)) return a;
  const Unpacked x = unpack<Format>(a);
  const int unbiased = x.exponent - bias;
  const bool odd = (unbiased & 1) != 0;
  const u128 radicand = u128{x.significand} << (odd ? kLead + 1 : kLead);
  u64 root = integer_sqrt(radicand);
  if (u128{root} * root != radicand) root |= 1;
  return round_pack<Format>(false, (unbiased - (odd ? 1 : 0)) / 2 + bias, root, rounding, flags);
}

template <unsigned E, unsigned M>
u64 Format<E, M>::fma(u64 a, u64 b, u64 c, unsigned rounding, unsigned* flags) {
  const bool infinite_product = is_infinite(a) || is_infinite(b);
  const bool zero_product = is_zero(a) || is_zero(b);
  if (infinite_product && zero_product) *flags |= kInvalid;  // also when c is a quiet NaN
  if (is_nan(a) || is_nan(b) || is_nan(c)) {
    propagate_nan<Format>(a, c, flags);
    return propagate_nan<Format>(b, c, flags);
  }
  if (infinite_product && zero_product) return canonical_nan;
  const u64 sign = (a ^ b) & sign_mask;
  if (infinite_product) {
    if (is_infinite(c) && ((c & sign_mask) != sign)) return invalid<Format>(flags);
    return sign | infinity;
  }
  if (is_infinite(c)) return c;
  const u64 zero = rounding == kDown ? sign_mask : 0;
  if (zero_product) {
    if (!is_zero(c)) return c;
    return (c & sign_mask) == sign ? c : zero;
  }
  const Unpacked x = unpack<Format>(a);
  const Unpacked y = unpack<Format>(b);
  const bool product_negative = sign != 0;
  const int product_exponent = x.exponent + y.exponent - bias;
  u128 product = u128{x.significand} * y.significand;  // leads at bit 124 or 125, at least 20 low zero bits
  if (is_zero(c))
    return round_pack_wide<Format>(product_negative, product_exponent, product, rounding, flags);
  const Unpacked z = unpack<Format>(c);
  u128 addend = u128{z.significand} << kLead;
  int exponent = product_exponent;
  if (exponent >= z.exponent) {
    addend = shift_right_jam(addend, static_cast<unsigned>(exponent - z.exponent));
  } else {
    product = shift_right_jam(product, static_cast<unsigned>(z.exponent - exponent));
    exponent = z.exponent;
  }
  if (product_negative == z.negative) {
    return round_pack_wide<Format>(product_negative, exponent, product + addend, rounding, flags);
  }
  if (product == addend) return zero;
  const bool product_larger = product > addend;
  return round_pack_wide<Format>(product_larger ? product_negative : z.negative, exponent,
                                 product_larger ? product - addend : addend - product, rounding, flags);
}

template struct Format<8, 23>;
template struct Format<11, 52>;

}  // namespace shinken::fp
