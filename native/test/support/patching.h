#pragma once
// A program that calls functions in many pages and, before every fourth call, patches the one that it calls:
// whoever executes code that is no longer there ends with another sum.
#include <cstring>

#include "test/support/assembler.h"

namespace shinken::test {

inline constexpr u64 kPatchedPages = 16;

/// A flat binary, entered in S-mode without paging, that never ends; another seed, another course.
inline std::vector<u8> patching_program(u64 seed) {
  enum : u32 {
    zero = 0,
    ra = 1,
    data = 2,
    mul = 5,
    increment = 6,
    t = 7,
    functions = 8,
    state = 9,
    sum = 10
  };
  enum : u32 { count = 11, function = 28, word = 30, addi_word = 31 };
  constexpr u64 kConstants = kPageSize, kFunctions = 2 * kPageSize;
  constexpr i32 kPatched = 8;
  const auto srli = [](u32 rd, u32 rs, i32 n) { return as::i(0x13, rd, 5, rs, n); };
  const auto andi = [](u32 rd, u32 rs, i32 n) { return as::i(0x13, rd, 7, rs, n); };
  const std::vector<u32> start = {
      as::auipc(t, 1),          as::ld(mul, t, 0),        as::ld(increment, t, 8), as::ld(state, t, 16),
      as::ld(addi_word, t, 24), as::ld(functions, t, 32), as::ld(data, t, 40),
  };
  const std::vector<u32> round = {
      as::r(0x33, state, 0, state, mul, 1),
      as::add(state, state, increment),
      srli(function, state, 60),
      as::slli(function, function, kPageShift),
      as::add(function, function, functions),
      srli(t, state, 33),
      andi(t, t, 3),
      as::bne(t, zero, 20),
      srli(word, state, 44),
      as::slli(word, word, 20),
      as::add(word, word, addi_word),
      as::sw(word, function, kPatched),
      as::jalr(ra, function, 0),
      // The sum goes to one of eight places in each of eight pages.
      srli(t, state, 50),
      andi(t, t, 63),
      as::slli(t, t, 9),
      as::add(t, t, data),
      as::sd(sum, t, 0),
  };
  const std::vector<u32> body = {
      as::addi(count, zero, 3),   as::r(0x33, sum, 4, sum, state, 0),
      as::addi(sum, sum, 0),  // patched
      as::slli(t, sum, 1),        as::add(sum, sum, t),
      as::addi(count, count, -1), as::bne(count, zero, -20),
      as::jalr(zero, ra, 0),
  };
  std::vector<u8> out(kFunctions + (kPatchedPages << kPageShift));
  const auto put = [&out](u64 at, const auto& values) {
    std::memcpy(&out[at], values.data(), values.size() * sizeof values[0]);
  };
  std::vector<u32> code = start;
  code.insert(code.end(), round.begin(), round.end());
  code.push_back(as::jal(zero, -4 * static_cast<i32>(round.size())));
  put(0, code);
  const u64 base = kRamBase + 0x200000;
  put(kConstants, std::vector<u64>{6364136223846793005, 1442695040888963407, seed, as::addi(sum, sum, 0),
                                   base + kFunctions, base + 0x100000});
  for (u64 page = 0; page < kPatchedPages; ++page) put(kFunctions + (page << kPageShift), body);
  return out;
}

}  // namespace shinken::test
