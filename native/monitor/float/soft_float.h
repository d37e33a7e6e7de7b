#pragma once
// IEEE 754-2008 binary32 and binary64 in integer arithmetic, with RISC-V's choices: canonical NaN results,
// tininess detected after rounding, saturating conversions. The same bits on every host and compiler.
// Semantics: The RISC-V Instruction Set Manual, Volume I (2019-12-13), chapters 11 and 12.
#include "monitor/base/types.h"

namespace shinken::fp {

/// Encoded as in frm.
enum Rounding : unsigned { kNearestEven = 0, kTowardZero = 1, kDown = 2, kUp = 3, kNearestAway = 4 };

/// Encoded as in fflags.
enum Flag : unsigned { kInexact = 1, kUnderflow = 2, kOverflow = 4, kDivideByZero = 8, kInvalid = 16 };

/// One binary format, its values carried in the low bits of a u64. `flags` is only ever added to.
template <unsigned kExponentBits, unsigned kFractionBits>
struct Format {
  static constexpr unsigned exponent_bits = kExponentBits;
  static constexpr unsigned fraction_bits = kFractionBits;
  static constexpr int exponent_max = (1 << kExponentBits) - 1;
  static constexpr int bias = exponent_max >> 1;
  static constexpr u64 fraction_mask = (u64{1} << kFractionBits) - 1;
  static constexpr u64 sign_mask = u64{1} << (kExponentBits + kFractionBits);
  static constexpr u64 infinity = static_cast<u64>(exponent_max) << kFractionBits;
  static constexpr u64 quiet_bit = u64{1} << (kFractionBits - 1);
  static constexpr u64 canonical_nan = infinity | quiet_bit;

  static bool is_nan(u64 v) { return (v & ~sign_mask) > infinity; }
  static bool is_signaling(u64 v) { return is_nan(v) && !(v & quiet_bit); }
  static bool is_infinite(u64 v) { return (v & ~sign_mask) == infinity; }
  static bool is_zero(u64 v) { return (v & ~sign_mask) == 0; }

  static u64 add(u64 a, u64 b, unsigned rounding, unsigned* flags);
  static u64 sub(u64 a, u64 b, unsigned rounding, unsigned* flags) {
    return add_signed(a, b, true, rounding, flags);
  }
  static u64 mul(u64 a, u64 b, unsigned rounding, unsigned* flags);
  static u64 div(u64 a, u64 b, unsigned rounding, unsigned* flags);
  static u64 sqrt(u64 a, unsigned rounding, unsigned* flags);
  /// a * b + c with one rounding.
  static u64 fma(u64 a, u64 b, u64 c, unsigned rounding, unsigned* flags);
  static u64 min(u64 a, u64 b, unsigned* flags);
  static u64 max(u64 a, u64 b, unsigned* flags);
  static bool equal(u64 a, u64 b, unsigned* flags);       // quiet
  static bool less(u64 a, u64 b, unsigned* flags);        // signaling
  static bool less_equal(u64 a, u64 b, unsigned* flags);  // signaling
  /// The ten-bit class mask of FCLASS.
  static unsigned classify(u64 a);
  /// To a signed or unsigned integer of `bits` (32 or 64); 32-bit results are sign-extended to 64.
  static u64 to_integer(u64 a, bool is_signed, unsigned bits, unsigned rounding, unsigned* flags);
  static u64 from_integer(u64 value, bool is_signed, unsigned rounding, unsigned* flags);

 private:
  static u64 add_signed(u64 a, u64 b, bool negate_b, unsigned rounding, unsigned* flags);
};

using F32 = Format<8, 23>;
using F64 = Format<11, 52>;

u64 widen(u64 a, unsigned* flags);                      // binary32 to binary64
u64 narrow(u64 a, unsigned rounding, unsigned* flags);  // binary64 to binary32

}  // namespace shinken::fp
