// What must not show: how instructions are grouped into runs and blocks, and whether caches are warm. Random
// hostile programs with page tables that they rewrite, code that they overwrite, traps, timer interrupts and
// mode changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "test/support/flat_machine.h"
#include "test/support/hostile.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u64 kInstructions = 2500;

/// A machine in the middle of nothing good; the same for the same seed.
struct Hostile {
  explicit Hostile(u64 seed, Translation translation = Translation::kNever)
      : machine(HostileProgram::kPages) {
    machine.hart.set_translation(translation);
    const HostileProgram program(seed);
    for (const auto& piece : program.pieces) {
      machine.memory.put(program.address(0) + piece.offset, piece.bytes.data(), piece.bytes.size());
    }
    HartState& state = machine.hart.state();
    std::copy(program.x.begin(), program.x.end(), state.x);
    std::copy(program.f.begin(), program.f.end(), state.f);
    state.stvec = program.stvec;
    state.satp = program.satp;
    state.sstatus = program.sstatus;
    state.sie = program.sie;
    state.stimecmp = program.stimecmp;
    state.pc = program.pc;
  }

  /// Everything that is architecture: the state up to its last field, and memory.
  std::string image() {
    const auto* state = reinterpret_cast<const char*>(&machine.hart.state());
    std::string all(state, offsetof(HartState, waiting) + 1);
    return all.append(machine.memory.bytes().begin(), machine.memory.bytes().end());
  }
  void run_to(u64 limit) {
    while (machine.hart.state().instret < limit) {
      // A program that waits is woken by the passing of time.
      if (machine.hart.run(limit) == HartExit::kWaiting) break;
    }
  }

  FlatMachine machine;
};

constexpr u64 kSeeds = 120;

}  // namespace

TEST_CASE("one long run equals single steps") {
  for (u64 seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Hostile whole(seed), stepped(seed);
    whole.run_to(kInstructions);
    for (u64 n = 1; n <= kInstructions; ++n) stepped.run_to(n);
    CHECK(whole.machine.hart.state().pc == stepped.machine.hart.state().pc);
    CHECK(whole.image() == stepped.image());
  }
}

TEST_CASE("translated blocks equal interpreted ones, in one long run and in pieces") {
  u64 places = 0;
  for (u64 seed = 1; seed <= 6 * kSeeds; ++seed) {
    CAPTURE(seed);
    Hostile interpreted(seed), translated(seed, Translation::kAll), pieces(seed, Translation::kAll);
    interpreted.run_to(kInstructions);
    translated.run_to(kInstructions);
    Random random(seed);
    std::set<u64> seen;
    for (u64 n = 0; n < kInstructions;) {
      n = std::min<u64>(kInstructions, n + 1 + random.below(30));
      pieces.run_to(n);
      seen.insert(pieces.machine.hart.state().pc);
    }
    places += seen.size();
    CHECK(interpreted.machine.hart.state().pc == translated.machine.hart.state().pc);
    CHECK(interpreted.image() == translated.image());
    CHECK(interpreted.image() == pieces.image());
  }
  // Programs that only go round in traps would show nothing.
  CHECK(places > 20 * 6 * kSeeds);
}

TEST_CASE("warm caches equal caches that are dropped all the time") {
  for (u64 seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Hostile warm(seed), cold(seed), undecoded(seed);
    warm.run_to(kInstructions);
    Random random(seed);
    for (u64 n = 0; n < kInstructions;) {
      n = std::min<u64>(kInstructions, n + 1 + random.below(9));
      cold.run_to(n);
      cold.machine.hart.drop_translations();
      undecoded.run_to(n);
      undecoded.machine.hart.reset_caches();
    }
    CHECK(warm.image() == cold.image());
    CHECK(warm.image() == undecoded.image());
  }
}

TEST_CASE("two harts that take turns on one thread do not see each other") {
  for (u64 seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Hostile alone(seed), first(seed), second(seed + 1000);
    alone.run_to(kInstructions);
    for (u64 n = 50; n <= kInstructions; n += 50) {
      first.run_to(n);
      second.run_to(n);
    }
    CHECK(alone.image() == first.image());
  }
}

TEST_CASE("every program runs to its limit exactly") {
  for (u64 seed = 1; seed <= 30; ++seed) {
    Hostile hostile(seed);
    Random random(seed);
    for (u64 n = 1; n < kInstructions; n += 1 + random.below(100)) {
      hostile.run_to(n);
      CHECK(hostile.machine.hart.state().instret == n);
    }
  }
}
