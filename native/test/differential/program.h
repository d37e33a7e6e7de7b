#pragma once
// A whole program of random sequences as one ELF file that runs alike under qemu-riscv64 (user mode) and,
// loaded flat in S-mode, on our hart: for each sequence all registers are loaded from a table, the sequence
// runs, all registers are stored; at the end everything is written to standard output (an ecall that our side
// takes as the end).
#include <cstring>
#include <string>

#include "test/differential/sequence.h"

namespace shinken::test {

struct Program {
  static constexpr u64 kCode = 0x80200000;
  static constexpr u64 kInput = 0x81000000;
  static constexpr u64 kData = 0x82000000;  // two pages, then the output records
  static constexpr u64 kDataBytes = 0x2000;
  static constexpr u64 kOutput = kData + kDataBytes;
  static constexpr u64 kRecord = 65 * 8;       // f0-f31, x0-x31, fcsr
  static constexpr u64 kMemoryPages = 0x3000;  // of RAM at 0x80000000 that the program fits in

  unsigned sequences = 0;
  unsigned instructions = 0;
  Code code;
  std::vector<u64> starts;  // address of each sequence's first random instruction
  std::vector<u64> ends;    // and of what follows its last
  std::vector<u64> input;
  std::vector<u8> data;

  u64 output_bytes() const { return kDataBytes + sequences * kRecord; }
};

namespace detail {

/// x3 = address, by auipc and addi.
inline void point_x3(Code& code, u64 address) {
  const i64 delta = static_cast<i64>(address - (Program::kCode + 2 * code.size()));
  const i32 low = static_cast<i32>(delta << 52 >> 52);
  emit32(code, 0x17 | 3 << 7 | (static_cast<u32>(delta - low) & 0xfffff000));
  emit32(code, encode::i(0x13, 3, 0, 3, low));
}
inline void load_immediate(Code& code, u32 rd, u32 value) {  // value < 2^31
  emit32(code, 0x37 | rd << 7 | ((value + 0x800) & 0xfffff000));
  emit32(code, encode::i(0x1b, rd, 0, rd, static_cast<i32>(value << 20) >> 20));
}

}  // namespace detail

/// `length` random instructions in each of `sequences` sequences.
inline Program make_program(u64 seed, unsigned sequences, unsigned length) {
  Random random(seed);
  SequenceMaker maker(random);
  Program program;
  program.sequences = sequences;
  program.instructions = sequences * length;
  for (unsigned n = 0; n < sequences; ++n) {
    Code& code = program.code;
    detail::point_x3(code, Program::kInput + n * Program::kRecord);
    for (u32 f = 0; f < 32; ++f) emit32(code, encode::i(0x07, f, 3, 3, static_cast<i32>(8 * f)));
    emit32(code, encode::i(0x03, 5, 3, 3, 512));
    emit32(code, encode::i(0x73, 0, 1, 5, 0x003));
    for (u32 x = 1; x < 32; ++x) {
      if (x != 3) emit32(code, encode::i(0x03, x, 3, 3, static_cast<i32>(256 + 8 * x)));
    }
    program.starts.push_back(Program::kCode + 2 * code.size());
    maker.append(code, length);
    program.ends.push_back(Program::kCode + 2 * code.size());
    if (random.chance(50)) code.push_back(0x0001);  // c.nop: sequences start at every alignment
    detail::point_x3(code, Program::kOutput + n * Program::kRecord);
    for (u32 x = 1; x < 32; ++x) emit32(code, encode::s(0x23, 3, 3, x, static_cast<i32>(256 + 8 * x)));
    for (u32 f = 0; f < 32; ++f) emit32(code, encode::s(0x27, 3, 3, f, static_cast<i32>(8 * f)));
    emit32(code, encode::i(0x73, 5, 2, 0, 0x003));
    emit32(code, encode::s(0x23, 3, 3, 5, 512));

    for (u32 f = 0; f < 32; ++f) program.input.push_back(interesting_float(random));
    for (u32 x = 0; x < 32; ++x) program.input.push_back(interesting_integer(random));
    u64* xs = &program.input[program.input.size() - 32];
    // sp: aligned, room for 0..511 above; x8: any alignment, both with room for an immediate either way.
    xs[2] = Program::kData + 0x800 + 8 * random.below(0x200);
    xs[8] = Program::kData + 0x800 + random.below(0xff0);
    xs[9] = Program::kData + 8 * random.below(Program::kDataBytes / 8);
    program.input.push_back(random.below(32) | random.below(5) << 5);
  }
  detail::point_x3(program.code, Program::kData);
  emit32(program.code, encode::i(0x13, 10, 0, 0, 1));
  emit32(program.code, encode::i(0x13, 11, 0, 3, 0));
  detail::load_immediate(program.code, 12, static_cast<u32>(program.output_bytes()));
  emit32(program.code, encode::i(0x13, 17, 0, 0, 64));
  emit32(program.code, 0x00000073);
  emit32(program.code, encode::i(0x13, 10, 0, 0, 0));
  emit32(program.code, encode::i(0x13, 17, 0, 0, 93));
  emit32(program.code, 0x00000073);
  for (u64 n = 0; n < Program::kDataBytes; ++n) program.data.push_back(static_cast<u8>(random.next()));
  return program;
}

/// The program as a static ELF executable (format: System V gABI, machine 243).
inline std::vector<u8> to_elf(const Program& program) {
  struct Segment {
    u64 address;
    const void* bytes;
    u64 size, memory;
    u32 flags;
  };
  const Segment segments[3] = {
      {Program::kCode, program.code.data(), program.code.size() * 2, program.code.size() * 2, 5},
      {Program::kInput, program.input.data(), program.input.size() * 8, program.input.size() * 8, 6},
      {Program::kData, program.data.data(), program.data.size(), program.output_bytes(), 6}};
  std::vector<u8> file(64 + 3 * 56);
  const auto put = [&file](u64 at, u64 value, unsigned size) { std::memcpy(&file[at], &value, size); };
  put(0, 0x00010102464c457f, 8);
  put(16, 2, 2);
  put(18, 243, 2);
  put(20, 1, 4);
  put(24, Program::kCode, 8);
  put(32, 64, 8);
  put(48, 5, 4);  // flags: RVC, double-float ABI
  put(52, 64, 2);
  put(54, 56, 2);
  put(56, 3, 2);
  for (unsigned i = 0; i < 3; ++i) {
    const Segment& segment = segments[i];
    file.resize((file.size() + 4095) & ~u64{4095});
    const u64 at = 64 + 56 * i;
    put(at, 1, 4);
    put(at + 4, segment.flags, 4);
    put(at + 8, file.size(), 8);
    put(at + 16, segment.address, 8);
    put(at + 24, segment.address, 8);
    put(at + 32, segment.size, 8);
    put(at + 40, segment.memory, 8);
    put(at + 48, 4096, 8);
    const auto* bytes = static_cast<const u8*>(segment.bytes);
    file.insert(file.end(), bytes, bytes + segment.size);
  }
  return file;
}

}  // namespace shinken::test
