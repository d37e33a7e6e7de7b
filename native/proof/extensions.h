#pragma once
// What random code is made of: instructions by extension, floating-point operations by rounding mode.
#include <array>

#include "test/differential/sequence.h"

namespace shinken::proof {

enum Extension : unsigned {
  kI,
  kM,
  kA,
  kF,
  kD,
  kC,
  kZicsr,
  kZifencei,
  kPrivileged,  // ecall, ebreak, sret, mret, wfi, sfence.vma
  kReserved,    // encodings that nobody has
  kExtensions
};
inline constexpr const char* kExtensionNames[kExtensions] = {
    "I", "M", "A", "F", "D", "C", "Zicsr", "Zifencei", "privileged", "reserved"};
inline constexpr const char* kRoundingNames[8] = {"RNE", "RTZ", "RDN", "RUP", "RMM", "5", "6", "DYN"};

struct Counts {
  std::array<u64, kExtensions> by_extension{};
  std::array<u64, 8> by_rounding{};

  u64 total() const {
    u64 sum = 0;
    for (const u64 count : by_extension) sum += count;
    return sum;
  }
  void add(const Counts& other) {
    for (unsigned i = 0; i < kExtensions; ++i) by_extension[i] += other.by_extension[i];
    for (unsigned i = 0; i < 8; ++i) by_rounding[i] += other.by_rounding[i];
  }
};

inline bool has_rounding(u32 word) {
  const u32 opcode = word & 0x7f;
  if (opcode != 0x53) return opcode >= 0x43 && opcode <= 0x4f;
  switch (word >> 27) {
    case 0x00:
    case 0x01:
    case 0x02:
    case 0x03:
    case 0x08:
    case 0x0b:
    case 0x18:
    case 0x1a:
      return true;
    default:
      return false;
  }
}

inline Extension extension_of(u32 word) {
  if ((word & 3) != 3) return (word & 0xffff) == 0 ? kReserved : kC;
  const u32 function3 = word >> 12 & 7;
  switch (word & 0x7f) {
    case 0x33:
    case 0x3b:
      if (word >> 25 == 1) return kM;
      return word >> 25 == 0 || word >> 25 == 0x20 ? kI : kReserved;
    case 0x2f:
      return function3 == 2 || function3 == 3 ? kA : kReserved;
    case 0x07:
    case 0x27:
      return function3 == 2 ? kF : kD;
    case 0x43:
    case 0x47:
    case 0x4b:
    case 0x4f:
    case 0x53:
      if ((word >> 25 & 3) > 1) return kReserved;
      return word >> 25 & 1 ? kD : kF;
    case 0x73:
      return function3 == 0 ? kPrivileged : kZicsr;
    case 0x0f:
      return function3 == 1 ? kZifencei : kI;
    case 0x03:
    case 0x13:
    case 0x17:
    case 0x1b:
    case 0x23:
    case 0x37:
    case 0x63:
    case 0x67:
    case 0x6f:
      return kI;
    default:
      return kReserved;
  }
}

/// Counts the instructions of half-words [from, to).
inline void count(const test::Code& code, u64 from, u64 to, Counts& counts) {
  for (u64 at = from; at < to;) {
    u32 word = code[at];
    if ((word & 3) == 3 && at + 1 < to) word |= u32{code[at + 1]} << 16;
    const Extension extension = extension_of(word);
    ++counts.by_extension[extension];
    if ((extension == kF || extension == kD) && has_rounding(word)) ++counts.by_rounding[word >> 12 & 7];
    at += (word & 3) == 3 ? 2 : 1;
  }
}

}  // namespace shinken::proof
