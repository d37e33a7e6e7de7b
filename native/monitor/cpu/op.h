#pragma once
// Pre-decoded instructions: eight bytes each, the same for every mode, address space and machine.
#include "monitor/base/types.h"

namespace shinken {

// Every operation the execution loop knows. Loads and stores that could write x0 and the zero-result forms are
// replaced at decode time, so that no handler of the plain integer operations has to protect x0.
#define SHINKEN_OPS_INTEGER(X)                                                                                  \
  X(Nop) X(Li) X(Mv) X(Auipc)                                                                                   \
  X(Addi) X(Slti) X(Sltiu) X(Xori) X(Ori) X(Andi) X(Slli) X(Srli) X(Srai) X(Addiw) X(Slliw) X(Srliw) X(Sraiw)   \
  X(Add) X(Sub) X(Sll) X(Slt) X(Sltu) X(Xor) X(Srl) X(Sra) X(Or) X(And) X(Addw) X(Subw) X(Sllw) X(Srlw) X(Sraw) \
  X(Mul) X(Mulh) X(Mulhsu) X(Mulhu) X(Div) X(Divu) X(Rem) X(Remu) X(Mulw) X(Divw) X(Divuw) X(Remw) X(Remuw)

#define SHINKEN_OPS_MEMORY(X)                                                                            \
  X(Lb) X(Lh) X(Lw) X(Ld) X(Lbu) X(Lhu) X(Lwu) X(LoadX0) X(Sb) X(Sh) X(Sw) X(Sd) X(Flw) X(Fld) X(Fsw) X(Fsd) \
  X(LrW) X(LrD) X(ScW) X(ScD)                                                                            \
  X(AmoswapW) X(AmoaddW) X(AmoxorW) X(AmoandW) X(AmoorW) X(AmominW) X(AmomaxW) X(AmominuW) X(AmomaxuW)   \
  X(AmoswapD) X(AmoaddD) X(AmoxorD) X(AmoandD) X(AmoorD) X(AmominD) X(AmomaxD) X(AmominuD) X(AmomaxuD)

#define SHINKEN_OPS_FLOAT(X)                                                                              \
  X(FaddS) X(FsubS) X(FmulS) X(FdivS) X(FsqrtS) X(FmaddS) X(FmsubS) X(FnmsubS) X(FnmaddS)                 \
  X(FsgnjS) X(FsgnjnS) X(FsgnjxS) X(FminS) X(FmaxS) X(FeqS) X(FltS) X(FleS) X(FclassS)                    \
  X(FcvtWS) X(FcvtWuS) X(FcvtLS) X(FcvtLuS) X(FcvtSW) X(FcvtSWu) X(FcvtSL) X(FcvtSLu) X(FmvXW) X(FmvWX)   \
  X(FaddD) X(FsubD) X(FmulD) X(FdivD) X(FsqrtD) X(FmaddD) X(FmsubD) X(FnmsubD) X(FnmaddD)                 \
  X(FsgnjD) X(FsgnjnD) X(FsgnjxD) X(FminD) X(FmaxD) X(FeqD) X(FltD) X(FleD) X(FclassD)                    \
  X(FcvtWD) X(FcvtWuD) X(FcvtLD) X(FcvtLuD) X(FcvtDW) X(FcvtDWu) X(FcvtDL) X(FcvtDLu) X(FmvXD) X(FmvDX)   \
  X(FcvtSD) X(FcvtDS)

#define SHINKEN_OPS_CONTROL(X)                                                          \
  X(Beq) X(Bne) X(Blt) X(Bge) X(Bltu) X(Bgeu) X(Jal) X(J) X(Jalr) X(Jr) X(End) X(Cross) \
  X(Csr) X(Ecall) X(Ebreak) X(Sret) X(Wfi) X(SfenceVma) X(FenceI) X(Illegal)

#define SHINKEN_OPS(X) \
  SHINKEN_OPS_INTEGER(X) SHINKEN_OPS_MEMORY(X) SHINKEN_OPS_FLOAT(X) SHINKEN_OPS_CONTROL(X)

enum class OpCode : u16 {
#define SHINKEN_ENUM(name) name,
  SHINKEN_OPS(SHINKEN_ENUM)
#undef SHINKEN_ENUM
      Count,
};

/// One decoded instruction. Field use by group:
/// - immediates and loads: a = rd, b = rs1, imm; register forms: a = rd, b = rs1, imm = rs2;
/// - stores: a = rs2, b = rs1, imm; LoadX0: a = log2(size), b = rs1, imm;
/// - branches: a = rs2, b = rs1, imm = target relative to the block's start (low 16 bits, signed) and the number of
///   instructions retired by a taken branch (high 16 bits);
/// - Jal, J, Auipc: imm relative to the block's start; Jalr, Jr: imm as encoded;
/// - floating point: a = rd, b = rs1, imm = rs2 | rs3 << 5 | rm << 10; Csr: a = rd, b = rs1, imm = csr | funct3 << 12.
struct Op {
  OpCode code;
  u8 a;
  u8 b;
  i32 imm;
};
static_assert(sizeof(Op) == 8);

/// Precedes a block's operations in the same array.
struct BlockHeader {
  u16 count;   // instructions, at least 1
  u16 bytes;   // of guest code
  u16 offset;  // of the first instruction in its page
  u16 unused;
};
static_assert(sizeof(BlockHeader) == sizeof(Op));

/// Longest block, in instructions.
inline constexpr unsigned kMaxBlock = 64;

}  // namespace shinken
