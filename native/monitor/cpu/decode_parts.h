#pragma once
// Builders that the decoder's files share; not for others.
#include "monitor/cpu/op.h"

namespace shinken::decoding {

inline constexpr u32 bits(u32 raw, unsigned low, unsigned count) {
  return (raw >> low) & ((1u << count) - 1);
}
inline constexpr i32 sign_extend(u32 value, unsigned width) {
  return static_cast<i32>(value << (32 - width)) >> (32 - width);
}

inline Op make(OpCode code, u32 a, u32 b, i32 imm) {
  return {code, static_cast<u8>(a), static_cast<u8>(b), imm};
}
inline Op illegal() {
  return make(OpCode::Illegal, 0, 0, 0);
}

/// An operation whose only effect is to write `rd`.
inline Op pure(OpCode code, u32 rd, u32 rs1, i32 imm) {
  if (rd == 0) return make(OpCode::Nop, 0, 0, 0);
  if (code == OpCode::Addi && rs1 == 0) return make(OpCode::Li, rd, 0, imm);
  if (code == OpCode::Addi && imm == 0) return make(OpCode::Mv, rd, rs1, 0);
  return make(code, rd, rs1, imm);
}
/// An integer load; `log2_size` is needed when the result is dropped but the access still happens.
inline Op load(OpCode code, unsigned log2_size, u32 rd, u32 rs1, i32 imm) {
  if (rd == 0) return make(OpCode::LoadX0, log2_size, rs1, imm);
  return make(code, rd, rs1, imm);
}
inline Op jump(u32 rd, i32 imm) {
  return make(rd == 0 ? OpCode::J : OpCode::Jal, rd, 0, imm);
}
inline Op jump_register(u32 rd, u32 rs1, i32 imm) {
  return make(rd == 0 ? OpCode::Jr : OpCode::Jalr, rd, rs1, imm);
}

Op decode_compressed(u32 raw);
Op decode_float(u32 raw);

}  // namespace shinken::decoding
