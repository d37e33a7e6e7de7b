// Interrupts at every place of a block.
#include <doctest/doctest.h>

#include "test/differential/interrupts.h"

using namespace shinken;
using namespace shinken::test;

TEST_CASE("timer and external interrupts come at their very instruction, at every offset of a block") {
  u64 placed = 0;
  for (u64 seed = 1; seed <= 12; ++seed) CHECK(interrupts::check(seed, 40, &placed) == "");
  CHECK(placed == 12 * 2 * 80);
}
