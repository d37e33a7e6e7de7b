// Interrupts at every place of a block.
#include <doctest/doctest.h>

#include "test/differential/interrupts.h"
#include "test/support/sanitized.h"

using namespace shinken;
using namespace shinken::test;

TEST_CASE("timer and external interrupts come at their very instruction, at every offset of a block") {
  constexpr u64 kPrograms = kSanitized ? 2 : 12, kLength = 40;
  u64 placed = 0;
  for (u64 seed = 1; seed <= kPrograms; ++seed) CHECK(interrupts::check(seed, kLength, &placed) == "");
  CHECK(placed == kPrograms * 2 * 2 * kLength);
}
