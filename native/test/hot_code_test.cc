// Which code is translated: what is interpreted again and again, however the work is cut into runs.
#include <doctest/doctest.h>

#include "test/support/assembler.h"
#include "test/support/flat_machine.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u64 kEntry = FlatMachine::kEntry;
constexpr u64 kInstructions = 500000;

/// Host bytes of code after a loop of two pages ran in pieces of `piece` instructions.
u64 code_after(Translation translation, u64 piece) {
  FlatMachine machine;
  machine.hart.set_translation(translation);
  constexpr i32 kNextPage = kPageSize;
  machine.load(kEntry, {as::addi(5, 5, 1), as::jal(0, kNextPage - 4)});
  machine.load(kEntry + kNextPage, {as::add(6, 6, 5), as::add(7, 7, 6), as::jal(0, -kNextPage - 8)});
  while (machine.hart.state().instret < kInstructions) machine.hart.run(machine.hart.state().instret + piece);
  CHECK(machine.x(5) == kInstructions / 5);
  return machine.hart.code_bytes();
}

}  // namespace

#if defined(__x86_64__) && defined(__linux__)
TEST_CASE("code that is run again and again is translated, also in runs of a few instructions") {
  for (const u64 piece : {kInstructions, u64{1000}, u64{50}}) {
    CAPTURE(piece);
    CHECK(code_after(Translation::kHot, piece) > code_after(Translation::kNever, piece));
  }
}
#endif

TEST_CASE("code that is run once is not") {
  FlatMachine interpreted, machine;
  interpreted.hart.set_translation(Translation::kNever);
  for (FlatMachine* each : {&interpreted, &machine}) {
    each->load(kEntry, {as::addi(5, 5, 1), as::jal(0, kPageSize - 4)});
    each->load(kEntry + kPageSize, {as::add(6, 6, 5), as::kNop});
    each->hart.run(4);
    CHECK(each->x(6) == 1);
  }
  CHECK(machine.hart.code_bytes() == interpreted.hart.code_bytes());
}
