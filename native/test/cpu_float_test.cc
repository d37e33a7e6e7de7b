// Soft float where the standards leave a choice; the differential test covers the rest.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "monitor/float/soft_float.h"
#include "test/differential/random.h"

using namespace shinken;
using namespace shinken::fp;
using shinken::test::Random;

namespace {

u64 bits_of(double value) {
  u64 bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}
double double_of(u64 bits) {
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}

}  // namespace

TEST_CASE("every NaN result is the canonical one, and only signaling operands are invalid") {
  unsigned flags = 0;
  CHECK(F64::add(0xfff8000000000123, bits_of(1), kNearestEven, &flags) == 0x7ff8000000000000);
  CHECK(flags == 0);
  CHECK(F64::add(0x7ff0000000000001, bits_of(1), kNearestEven, &flags) == 0x7ff8000000000000);
  CHECK(flags == kInvalid);
}

TEST_CASE("infinity times zero is invalid even when a quiet NaN is added") {
  unsigned flags = 0;
  CHECK(F64::fma(F64::infinity, 0, F64::canonical_nan, kNearestEven, &flags) == F64::canonical_nan);
  CHECK(flags == kInvalid);
}

TEST_CASE("minimum and maximum order the zeros and drop a single NaN") {
  unsigned flags = 0;
  const u64 minus_zero = F64::sign_mask;
  CHECK(F64::min(0, minus_zero, &flags) == minus_zero);
  CHECK(F64::max(minus_zero, 0, &flags) == 0);
  CHECK(F64::min(F64::canonical_nan, bits_of(3), &flags) == bits_of(3));
  CHECK(flags == 0);
  CHECK(F64::max(0x7ff0000000000001, bits_of(3), &flags) == bits_of(3));
  CHECK(flags == kInvalid);
}

TEST_CASE("conversions saturate, NaN to the largest") {
  unsigned flags = 0;
  CHECK(F64::to_integer(F64::canonical_nan, true, 32, kNearestEven, &flags) == 0x7fffffff);
  CHECK(F64::to_integer(bits_of(-1.0), false, 64, kNearestEven, &flags) == 0);
  CHECK(F64::to_integer(bits_of(1e20), true, 64, kNearestEven, &flags) == 0x7fffffffffffffff);
  CHECK(F64::to_integer(bits_of(4294967295.0), false, 32, kNearestEven, &flags) == ~u64{0});
  CHECK(flags == kInvalid);
  flags = 0;
  CHECK(F64::to_integer(bits_of(-0.25), false, 64, kTowardZero, &flags) == 0);
  CHECK(flags == kInexact);
}

TEST_CASE("ties go to even, away, or where the mode says") {
  const u64 expected[5] = {2, 2, 2, 3, 3};
  for (unsigned mode = 0; mode < 5; ++mode) {
    unsigned flags = 0;
    CHECK(F64::to_integer(bits_of(2.5), true, 64, mode, &flags) == expected[mode]);
    CHECK(flags == kInexact);
  }
}

TEST_CASE("tininess is judged after rounding") {
  unsigned flags = 0;
  // The largest subnormal's neighbourhood: just below the smallest normal, rounding up to it.
  const u64 almost_one = bits_of(1) - 1;
  CHECK(F64::mul(0x0010000000000000, almost_one, kUp, &flags) == 0x0010000000000000);
  CHECK(flags == (kInexact | kUnderflow));
  flags = 0;
  CHECK(narrow(0x380fffffffffffff, kNearestEven, &flags) == 0x00800000);
  CHECK(flags == kInexact);  // as a number of 24 bits it is already the smallest normal
}

TEST_CASE("to nearest even the results are the host's") {
  Random random(5);
  for (int i = 0; i < 200000; ++i) {
    const u64 a = test::interesting_float(random), b = test::interesting_float(random);
    unsigned flags = 0;
    const auto check = [&](u64 ours, double host) {
      if (std::isnan(host) ? ours != F64::canonical_nan : ours != bits_of(host)) {
        CAPTURE(a);
        CAPTURE(b);
        CHECK(ours == bits_of(host));
      }
    };
    check(F64::add(a, b, kNearestEven, &flags), double_of(a) + double_of(b));
    check(F64::sub(a, b, kNearestEven, &flags), double_of(a) - double_of(b));
    check(F64::mul(a, b, kNearestEven, &flags), double_of(a) * double_of(b));
    check(F64::div(a, b, kNearestEven, &flags), double_of(a) / double_of(b));
    check(F64::sqrt(a, kNearestEven, &flags), std::sqrt(double_of(a)));
    check(F64::fma(a, b, a ^ b, kNearestEven, &flags),
          std::fma(double_of(a), double_of(b), double_of(a ^ b)));
  }
  CHECK(true);
}
