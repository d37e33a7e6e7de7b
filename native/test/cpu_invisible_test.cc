// What must not show: how instructions are grouped into runs and blocks, and whether caches are warm. Random
// hostile programs with page tables that they rewrite, code that they overwrite, traps, timer interrupts and
// mode changes.
#include <doctest/doctest.h>

#include <cstddef>

#include "test/support/assembler.h"
#include "test/support/flat_machine.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u64 kVirtual =
    0x40000000;  // the window: 8 pages of code and data, the page tables, the trap handler
constexpr u64 kRoot = 16, kMiddle = 17, kLeaf = 18, kHandler = 20, kFirst = 32;
constexpr u64 kPages = 64;
constexpr u64 kInstructions = 2500;

u64 page_address(u64 page) {
  return kRamBase + (page << kPageShift);
}
u64 pointer(u64 page, u64 bits) {
  return (page_address(page) >> 12) << 10 | bits;
}

/// Straight-line code mixed with the instructions that caches get wrong.
Code hostile_code(Random& random, u64 bytes) {
  SequenceMaker maker(random);
  Code code;
  const auto reg = [&random] { return random.below(32); };
  const auto imm = [&random] { return static_cast<i32>(random.below(4096)) - 2048; };
  // Most programs loop early, so that what they overwrote comes round again.
  const u64 loop = u64{200} << random.below(7);
  while (code.size() * 2 < bytes) {
    if (code.size() * 2 % loop < 8 && code.size() > 8 && random.chance(70)) {
      emit32(code, as::jal(0, -static_cast<i32>(2 * code.size())));
    }
    switch (random.below(24)) {
      case 0:
        emit32(code, as::sd(reg(), 8, imm() & ~7));
        break;  // into code
      case 1:
        emit32(code, as::sw(reg(), 8, imm()));
        break;
      case 2:
        emit32(code, as::sd(reg(), 9, 8 * static_cast<i32>(random.below(8))));
        break;  // a page-table entry
      case 3:
        emit32(code, encode::r(0x2f, 0, 3, 9, reg(), random.chance(50) ? 0x0c << 2 : 0x08 << 2));
        break;
      case 4:
        emit32(code, as::ld(5, 9, 8 * static_cast<i32>(random.below(8))));
        break;
      case 5:  // clear A or D of an entry, keep the rest
        emit32(code, as::addi(6, 0, random.chance(50) ? -65 : -129));
        emit32(code, encode::r(0x2f, 0, 3, 9, 6, 0x0c << 2));
        break;
      case 6:
        emit32(code, random.chance(50) ? as::kFenceI : as::kSfenceVma);
        break;
      case 7:
        emit32(code, as::csrrs(0, kCsrSstatus, reg()));
        break;
      case 8:
        emit32(code, as::csrrc(0, kCsrSstatus, reg()));
        break;
      case 9:
        emit32(code, as::csrrs(reg() | 4, kCsrSie, reg()));
        break;
      case 10:
        emit32(code, as::csrrs(7, kCsrTime, 0));
        emit32(code, as::addi(7, 7, static_cast<i32>(random.below(40))));
        emit32(code, as::csrrw(0, kCsrStimecmp, 7));
        break;
      case 11:
        emit32(code, as::csrrw(0, kCsrSip, reg()));
        break;
      case 12:
        emit32(code, static_cast<u32>(random.next()));
        break;
      case 13:
        emit32(code, as::beq(reg(), reg(), (imm() >> 2) & ~1));
        break;
      case 14:
        emit32(code, as::jal(0, (imm() * 4) & ~1));
        break;
      case 15:
        emit32(code, as::lw(reg() | 4, 2, imm()));
        break;
      case 16:
        emit32(code, as::sd(reg(), 2, imm()));
        break;
      default:
        maker.append(code, 1 + random.below(6));
        break;
    }
  }
  return code;
}

/// A machine in the middle of nothing good; the same for the same seed.
struct Hostile {
  explicit Hostile(u64 seed, std::shared_ptr<const SharedBlocks> shared = nullptr)
      : machine(kPages, std::move(shared)) {
    Random random(seed);
    FlatMemory& memory = machine.memory;
    memory.write<u64>(page_address(kRoot) + 8, pointer(kMiddle, 1));
    memory.write<u64>(page_address(kMiddle), pointer(kLeaf, 1));
    for (u64 i = 0; i < 8; ++i) {
      const u64 user = random.chance(25) ? 16 : 0;
      memory.write<u64>(page_address(kLeaf) + 8 * i, pointer(kFirst + i, (i < 4 ? 0xf : 0x7) | user));
    }
    for (u64 table : {kRoot, kMiddle, kLeaf})
      memory.write<u64>(page_address(kLeaf) + 8 * table, pointer(table, 7));
    memory.write<u64>(page_address(kLeaf) + 8 * kHandler, pointer(kHandler, 0xb));
    const Code code = hostile_code(random, 4 * kPageSize);
    memory.put(page_address(kFirst), code.data(), 4 * kPageSize);
    // Skip the instruction that trapped; start over when it could not even be fetched.
    const u64 handler = kVirtual + kHandler * kPageSize;
    const std::vector<u32> trap = {as::csrrs(3, kCsrScause, 0),
                                   as::bge(3, 0, 20),  // an interrupt: disarm the timer, drop SSIP, go on
                                   as::addi(3, 0, -1),
                                   as::csrrw(0, kCsrStimecmp, 3),
                                   as::csrrw(0, kCsrSip, 0),
                                   as::kSret,
                                   as::addi(3, 3, -12),
                                   as::beq(3, 0, 20),
                                   as::csrrs(3, kCsrSepc, 0),
                                   as::addi(3, 3, 2),
                                   as::csrrw(0, kCsrSepc, 3),
                                   as::kSret,
                                   as::lui(3, kVirtual >> 12),
                                   as::csrrw(0, kCsrSepc, 3),
                                   as::kSret};
    machine.load(page_address(kHandler), trap);
    HartState& state = machine.hart.state();
    for (u64& x : state.x) x = interesting_integer(random);
    for (u64& f : state.f) f = interesting_float(random);
    state.x[0] = 0;
    state.x[2] = kVirtual + 4 * kPageSize + 0x800 + random.below(0x2000);
    // Within reach of the code that runs; sometimes from the page's end into the next page.
    state.x[8] =
        kVirtual + (random.chance(50) ? 0x400 : 0x800) + random.below(random.chance(50) ? 0x400 : 0x3000);
    state.x[9] = kVirtual + kLeaf * kPageSize + 8 * random.below(8);
    state.stvec = handler;
    state.satp = kSatpModeSv39 | page_address(kRoot) >> 12;
    state.sstatus =
        kSstatusFs | (random.chance(50) ? kSstatusSum : 0) | (random.chance(50) ? kSstatusSie : 0);
    state.sie = random.chance(70) ? kInterruptMask : 0;
    state.stimecmp = random.chance(50) ? random.below(500) : ~u64{0};
    state.pc = kVirtual;
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
