// Siblings that take turns on one thread: what the kernel's half of one knows serves the other, but only
// where the two agree.
#include <doctest/doctest.h>

#include "test/support/assembler.h"
#include "test/support/machines.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr ForkOptions kGrade{ForkKind::kGrade, {}};
constexpr u64 kBase = kRamBase + kProgramOffset;
constexpr u64 kWindow = 0xffffffff80000000;
constexpr u64 kStub = 0, kRoot = 1, kMiddle = 2, kLeaf = 3, kMain = 4, kFirst = 5, kSecond = 6, kData = 7,
              kPages = 8;
/// Calls in each of the program's phases, and instructions of a call.
constexpr u64 kCalls = 300, kCall = 5;

u64 entry_for(u64 page, u64 bits) {
  return (kBase + (page << kPageShift)) >> 12 << 10 | bits;
}

/// Calls a function in another page, patches that function, calls it, maps another page in its place, calls
/// it.
std::vector<u8> program() {
  std::vector<u8> out(kPages << kPageShift);
  const auto put = [&out](u64 page, u64 offset, const auto& from) {
    std::memcpy(&out[(page << kPageShift) + offset], std::data(from),
                std::size(from) * sizeof *std::data(from));
  };
  constexpr u64 kAll = 0xcf, kPointer = 1;
  put(kRoot, 8 * (kWindow >> 30 & 511), std::vector<u64>{entry_for(kMiddle, kPointer)});
  put(kRoot, 8 * (kRamBase >> 30), std::vector<u64>{kRamBase >> 12 << 10 | kAll});
  put(kMiddle, 0, std::vector<u64>{entry_for(kLeaf, kPointer)});
  put(kLeaf, 0,
      std::vector<u64>{entry_for(kMain, kAll), entry_for(kFirst, kAll), entry_for(kLeaf, kAll),
                       entry_for(kSecond, kAll)});
  put(kData, 0,
      std::vector<u64>{kWindow, kWindow + 0x1000, kWindow + 0x2000, kWindow + 0x3000, as::addi(10, 10, 3),
                       entry_for(kSecond, kAll), kCalls,
                       kSatpModeSv39 | (kBase + (kRoot << kPageShift)) >> 12});
  std::vector<u32> stub = {as::auipc(31, kData)};
  for (u32 i = 0; i < 7; ++i) stub.push_back(as::ld(16 + i, 31, static_cast<i32>(8 * i)));
  stub.push_back(as::ld(5, 31, 56));
  stub.push_back(as::csrrw(0, kCsrSatp, 5));
  stub.push_back(as::jalr(0, 16, 0));
  put(kStub, 0, stub);
  std::vector<u32> main;
  const auto phase = [&main] {
    main.push_back(as::addi(5, 22, 0));
    main.push_back(as::jalr(1, 17, 0));
    main.push_back(as::addi(5, 5, -1));
    main.push_back(as::bne(5, 0, -8));
  };
  phase();
  main.push_back(as::sd(21, 18, 8));
  phase();
  main.push_back(as::sw(20, 19, 0));
  phase();
  main.push_back(0x10500073);  // wfi
  main.push_back(as::jal(0, -4));
  put(kMain, 0, main);
  put(kFirst, 0, std::vector<u32>{as::addi(10, 10, 1), as::jalr(0, 1, 0)});
  put(kSecond, 0, std::vector<u32>{as::addi(10, 10, 7), as::jalr(0, 1, 0)});
  return out;
}

RunRequest for_instructions(u64 count) {
  RunRequest request;
  request.max_instructions = count;
  return request;
}

}  // namespace

TEST_ON_BOTH_MEMORIES(
    "siblings in different phases of one program do not believe each other's code or tables") {
  TempDir dir;
  MachineConfig config;
  config.program = dir.write("program.bin", program());
  config.memory_mib = kMinMemoryMiB;
  config.memory = memory_under_test;
  auto parent = Machine::create(config);
  parent->run(for_instructions(60));
  const auto golden = parent->freeze();
  {
    auto warm = Machine::fork(golden, kGrade);
    warm->run(for_instructions(kCalls * kCall * 3 / 2));  // before it patches anything
    warm->share_code_with(*golden);
  }
  constexpr u64 kPhase = kCalls * kCall + 2, kEnd = 3 * kPhase;
  auto alone = Machine::fork(golden, kGrade);
  alone->run(for_instructions(kEnd));
  const Digest expected = alone->digest();

  for (const u64 phase : {0, 1}) {
    CAPTURE(phase);
    auto first = Machine::fork(golden, kGrade);
    auto second = Machine::fork(golden, kGrade);
    u64 first_left = kEnd, second_left = kEnd;
    const auto run = [](Machine& machine, u64& left, u64 count) {
      machine.run(for_instructions(std::min(left, count)));
      left -= std::min(left, count);
    };
    run(*first, first_left, phase * kPhase + 100);
    run(*second, second_left, (phase + 1) * kPhase + 100);
    for (unsigned turn = 0; turn < 4; ++turn) {
      run(*first, first_left, 200);
      run(*second, second_left, 200);
    }
    run(*first, first_left, kEnd);
    run(*second, second_left, kEnd);
    CHECK(first->digest() == expected);
    CHECK(second->digest() == expected);
  }
}
