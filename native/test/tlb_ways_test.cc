// Pages that meet in one slot of the TLB: translated code finds them in its second way, or walks without
// being left.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>

#include "test/support/assembler.h"
#include "test/support/flat_machine.h"
#include "test/support/hostile.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u64 kTables = kRamBase + 0x100000;
constexpr u64 kWindow = 0x40000000;
constexpr u64 kApart = u64{1} << 21;
constexpr u64 kData = kRamBase + 0x400000;
constexpr u64 kRwx = 0xcf, kRw = 0xc7, kUntouched = 0x07;
constexpr u32 kWindows = 4, kPages = 6;
constexpr u32 kBase = 18, kEntry = 22,
              kMapping = 26;  // first registers: windows, their entries, what they may hold
constexpr u64 kInstructions = 3000;

u64 entry_for(u64 pa, u64 bits) {
  return pa >> 12 << 10 | bits;
}

/// Loads, stores and atomics through four windows that are 2 MiB apart, and stores that map them elsewhere.
std::vector<u32> program(Random& random) {
  std::vector<u32> code;
  while (code.size() < 120) {
    const u32 window = kBase + static_cast<u32>(random.below(kWindows));
    const u32 rd = 5 + static_cast<u32>(random.below(4));
    const i32 at = static_cast<i32>(8 * random.below(5));
    switch (random.below(9)) {
      case 0:
      case 1:
        code.insert(code.end(), {as::ld(rd, window, at), as::lw(9, window, at), as::add(rd, rd, 9)});
        break;
      case 2:
      case 3:
        code.insert(code.end(), {as::addi(rd, rd, 3), as::sd(rd, window, at), as::sb(rd, window, at + 1)});
        break;
      case 4:
        code.push_back(as::amoadd_d(rd, 5, window));
        break;
      case 5:
      case 6:
        code.insert(code.end(), {as::lr_d(rd, window), as::addi(rd, rd, 1),
                                 as::sc_d(9, rd, kBase + static_cast<u32>(random.below(kWindows)))});
        break;
      case 7:
        code.push_back(as::lr_d(rd, window));
        break;
      default:
        code.push_back(as::sd(kMapping + static_cast<u32>(random.below(kPages)), window + kEntry - kBase, 0));
    }
  }
  code.push_back(as::jal(0, -4 * static_cast<i32>(code.size())));
  return code;
}

std::string after(u64 seed, Translation translation, u64 piece) {
  FlatMachine machine;
  machine.hart.set_translation(translation);
  Random random(seed);
  machine.memory.write<u64>(kTables + 8 * 2, entry_for(kRamBase, kRwx));
  machine.memory.write<u64>(kTables + 8 * 1, entry_for(kTables + 0x1000, 1));
  for (u32 i = 0; i < kWindows; ++i) {
    const u64 leaves = kTables + 0x2000 + i * kPageSize;
    machine.memory.write<u64>(kTables + 0x1000 + 8 * i, entry_for(leaves, 1));
    machine.memory.write<u64>(leaves, entry_for(kData + i * kPageSize, kRw));
    machine.x(kBase + i) = kWindow + i * kApart;
    machine.x(kEntry + i) = leaves;
  }
  for (u32 i = 0; i < kPages; ++i) {
    machine.memory.write<u64>(kData + i * kPageSize, 1000 * i);
    machine.x(kMapping + i) = entry_for(kData + i * kPageSize, i % 2 == 0 ? kRw : kUntouched);
  }
  machine.load(FlatMachine::kEntry, program(random));
  HartState& state = machine.hart.state();
  state.satp = kSatpModeSv39 | kTables >> 12;
  while (state.instret < kInstructions) machine.hart.run(std::min(kInstructions, state.instret + piece));
  CHECK(state.scause == 0);
  const auto* bytes = reinterpret_cast<const char*>(&state);
  std::string all(bytes, offsetof(HartState, waiting) + 1);
  return all.append(machine.memory.bytes().begin(), machine.memory.bytes().end());
}

}  // namespace

TEST_CASE("pages that meet in a slot of the TLB are never taken for each other") {
  for (u64 seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const std::string stepped = after(seed, Translation::kNever, 1);
    CHECK(stepped == after(seed, Translation::kNever, kInstructions));
    CHECK(stepped == after(seed, Translation::kAll, kInstructions));
    CHECK(stepped == after(seed, Translation::kAll, 7));
  }
}
