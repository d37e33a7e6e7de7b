// The C extension, expanded straight to operations.
// Format source: The RISC-V Instruction Set Manual, Volume I (2019-12-13), chapter 16 and its
// tables 16.5-16.7.
#include "monitor/cpu/decode_parts.h"

namespace shinken::decoding {

using enum OpCode;

namespace {

constexpr u32 kRa = 1, kSp = 2;

Op quadrant_0(u32 raw) {
  const u32 low = bits(raw, 2, 3) + 8;
  const u32 high = bits(raw, 7, 3) + 8;
  const i32 word = static_cast<i32>(bits(raw, 6, 1) << 2 | bits(raw, 10, 3) << 3 | bits(raw, 5, 1) << 6);
  const i32 dword = static_cast<i32>(bits(raw, 10, 3) << 3 | bits(raw, 5, 2) << 6);
  switch (raw >> 13) {
    case 0: {
      const u32 imm =
          bits(raw, 6, 1) << 2 | bits(raw, 5, 1) << 3 | bits(raw, 11, 2) << 4 | bits(raw, 7, 4) << 6;
      if (imm == 0) return illegal();
      return pure(Addi, low, kSp, static_cast<i32>(imm));
    }
    case 1:
      return make(Fld, low, high, dword);
    case 2:
      return load(Lw, 2, low, high, word);
    case 3:
      return load(Ld, 3, low, high, dword);
    case 5:
      return make(Fsd, low, high, dword);
    case 6:
      return make(Sw, low, high, word);
    case 7:
      return make(Sd, low, high, dword);
    default:
      return illegal();
  }
}

Op misc_alu(u32 raw, i32 imm6) {
  const u32 rd = bits(raw, 7, 3) + 8;
  const i32 rs2 = static_cast<i32>(bits(raw, 2, 3) + 8);
  switch (bits(raw, 10, 2)) {
    case 0:
      return pure(Srli, rd, rd, imm6 & 63);
    case 1:
      return pure(Srai, rd, rd, imm6 & 63);
    case 2:
      return pure(Andi, rd, rd, imm6);
    default:
      break;
  }
  static constexpr OpCode codes[8] = {Sub, Xor, Or, And, Subw, Addw, Illegal, Illegal};
  const OpCode code = codes[bits(raw, 12, 1) << 2 | bits(raw, 5, 2)];
  if (code == Illegal) return illegal();
  return pure(code, rd, rd, rs2);
}

Op quadrant_1(u32 raw) {
  const u32 rd = bits(raw, 7, 5);
  const i32 imm6 = sign_extend(bits(raw, 2, 5) | bits(raw, 12, 1) << 5, 6);
  switch (raw >> 13) {
    case 0:
      return pure(Addi, rd, rd, imm6);
    case 1:
      if (rd == 0) return illegal();
      return pure(Addiw, rd, rd, imm6);
    case 2:
      return pure(Li, rd, 0, imm6);
    case 3: {
      if (rd == kSp) {
        const i32 imm = sign_extend(bits(raw, 6, 1) << 4 | bits(raw, 2, 1) << 5 | bits(raw, 5, 1) << 6 |
                                        bits(raw, 3, 2) << 7 | bits(raw, 12, 1) << 9,
                                    10);
        if (imm == 0) return illegal();
        return pure(Addi, kSp, kSp, imm);
      }
      if (imm6 == 0) return illegal();
      return pure(Li, rd, 0, imm6 * 4096);
    }
    case 4:
      return misc_alu(raw, imm6);
    case 5: {
      const u32 imm = bits(raw, 3, 3) << 1 | bits(raw, 11, 1) << 4 | bits(raw, 2, 1) << 5 |
                      bits(raw, 7, 1) << 6 | bits(raw, 6, 1) << 7 | bits(raw, 9, 2) << 8 |
                      bits(raw, 8, 1) << 10 | bits(raw, 12, 1) << 11;
      return jump(0, sign_extend(imm, 12));
    }
    default: {
      const u32 imm = bits(raw, 3, 2) << 1 | bits(raw, 10, 2) << 3 | bits(raw, 2, 1) << 5 |
                      bits(raw, 5, 2) << 6 | bits(raw, 12, 1) << 8;
      return make(raw >> 13 == 6 ? Beq : Bne, 0, bits(raw, 7, 3) + 8, sign_extend(imm, 9));
    }
  }
}

Op jumps_and_moves(u32 raw) {
  const u32 rd = bits(raw, 7, 5);
  const u32 rs2 = bits(raw, 2, 5);
  if (bits(raw, 12, 1) == 0) {
    if (rs2 != 0) return pure(Mv, rd, rs2, 0);
    if (rd == 0) return illegal();
    return jump_register(0, rd, 0);
  }
  if (rs2 != 0) return pure(Add, rd, rd, static_cast<i32>(rs2));
  if (rd == 0) return make(Ebreak, 0, 0, 0);
  return jump_register(kRa, rd, 0);
}

Op quadrant_2(u32 raw) {
  const u32 rd = bits(raw, 7, 5);
  const u32 rs2 = bits(raw, 2, 5);
  const i32 load_w = static_cast<i32>(bits(raw, 4, 3) << 2 | bits(raw, 12, 1) << 5 | bits(raw, 2, 2) << 6);
  const i32 load_d = static_cast<i32>(bits(raw, 5, 2) << 3 | bits(raw, 12, 1) << 5 | bits(raw, 2, 3) << 6);
  const i32 store_w = static_cast<i32>(bits(raw, 9, 4) << 2 | bits(raw, 7, 2) << 6);
  const i32 store_d = static_cast<i32>(bits(raw, 10, 3) << 3 | bits(raw, 7, 3) << 6);
  switch (raw >> 13) {
    case 0:
      return pure(Slli, rd, rd, static_cast<i32>(bits(raw, 2, 5) | bits(raw, 12, 1) << 5));
    case 1:
      return make(Fld, rd, kSp, load_d);
    case 2:
      return rd == 0 ? illegal() : load(Lw, 2, rd, kSp, load_w);
    case 3:
      return rd == 0 ? illegal() : load(Ld, 3, rd, kSp, load_d);
    case 4:
      return jumps_and_moves(raw);
    case 5:
      return make(Fsd, rs2, kSp, store_d);
    case 6:
      return make(Sw, rs2, kSp, store_w);
    default:
      return make(Sd, rs2, kSp, store_d);
  }
}

}  // namespace

Op decode_compressed(u32 raw) {
  switch (raw & 3) {
    case 0:
      return quadrant_0(raw);
    case 1:
      return quadrant_1(raw);
    default:
      return quadrant_2(raw);
  }
}

}  // namespace shinken::decoding
