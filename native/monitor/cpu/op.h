#pragma once
// Pre-decoded instructions: eight bytes each, the same for every mode, address space and machine.
#include "monitor/base/types.h"

namespace shinken {

// Every operation the execution loop knows. Loads and stores that could write x0 and the zero-result forms
// are replaced at decode time, so that no handler of the plain integer operations has to protect x0.
// clang-format off
#define SHINKEN_OPS_INTEGER(X)                                                                            \
  X(Nop)                                                                                                  \
  X(Li) X(Mv) X(Auipc) X(Addi) X(Slti) X(Sltiu) X(Xori) X(Ori) X(Andi) X(Slli) X(Srli) X(Srai) X(Addiw)   \
      X(Slliw) X(Srliw) X(Sraiw) X(Add) X(Sub) X(Sll) X(Slt) X(Sltu) X(Xor) X(Srl) X(Sra) X(Or) X(And)    \
          X(Addw) X(Subw) X(Sllw) X(Srlw) X(Sraw) X(Mul) X(Mulh) X(Mulhsu) X(Mulhu) X(Div) X(Divu) X(Rem) \
              X(Remu) X(Mulw) X(Divw) X(Divuw) X(Remw) X(Remuw)

#define SHINKEN_OPS_MEMORY(X)                                                                          \
  X(Lb)                                                                                                \
  X(Lh) X(Lw) X(Ld) X(Lbu) X(Lhu) X(Lwu) X(LoadX0) X(Sb) X(Sh) X(Sw) X(Sd) X(Flw) X(Fld) X(Fsw) X(Fsd) \
      X(LrW) X(LrD) X(ScW) X(ScD) X(AmoswapW) X(AmoaddW) X(AmoxorW) X(AmoandW) X(AmoorW) X(AmominW)    \
          X(AmomaxW) X(AmominuW) X(AmomaxuW) X(AmoswapD) X(AmoaddD) X(AmoxorD) X(AmoandD) X(AmoorD)    \
              X(AmominD) X(AmomaxD) X(AmominuD) X(AmomaxuD)

#define SHINKEN_OPS_FLOAT(X)                                                                                \
  X(FaddS)                                                                                                  \
  X(FsubS) X(FmulS) X(FdivS) X(FsqrtS) X(FmaddS) X(FmsubS) X(FnmsubS) X(FnmaddS) X(FsgnjS) X(FsgnjnS)       \
      X(FsgnjxS) X(FminS) X(FmaxS) X(FeqS) X(FltS) X(FleS) X(FclassS) X(FcvtWS) X(FcvtWuS) X(FcvtLS)        \
          X(FcvtLuS) X(FcvtSW) X(FcvtSWu) X(FcvtSL) X(FcvtSLu) X(FmvXW) X(FmvWX) X(FaddD) X(FsubD) X(FmulD) \
              X(FdivD) X(FsqrtD) X(FmaddD) X(FmsubD) X(FnmsubD) X(FnmaddD) X(FsgnjD) X(FsgnjnD) X(FsgnjxD)  \
                  X(FminD) X(FmaxD) X(FeqD) X(FltD) X(FleD) X(FclassD) X(FcvtWD) X(FcvtWuD) X(FcvtLD)       \
                      X(FcvtLuD) X(FcvtDW) X(FcvtDWu) X(FcvtDL) X(FcvtDLu) X(FmvXD) X(FmvDX) X(FcvtSD)      \
                          X(FcvtDS)

#define SHINKEN_OPS_CONTROL(X)                                                                             \
  X(Beq)                                                                                                   \
  X(Bne) X(Blt) X(Bge) X(Bltu) X(Bgeu) X(Jal) X(J) X(Jalr) X(Jr) X(End) X(Cross) X(CsrField) X(MaskIrq) X(SetStatus) X(ClearStatus) X(WriteStatus) X(Csr) X(Ecall) X(Ebreak) \
      X(Sret) X(Wfi) X(SfenceVma) X(FenceI) X(Illegal)

#define SHINKEN_OPS(X) \
  SHINKEN_OPS_INTEGER(X) SHINKEN_OPS_MEMORY(X) SHINKEN_OPS_FLOAT(X) SHINKEN_OPS_CONTROL(X)

// Pairs that follow each other often (counted over runs of true, Python and git): the first is given a code
// that does its work and goes straight to the second's handler. Both keep their slots, so nothing else needs
// to know.
#define SHINKEN_PAIRS(X)                                                                                     \
  X(Ld, Ld) X(Ld, Addi) X(Ld, Add) X(Ld, Mv) X(Ld, Beq) X(Ld, Bne) X(Ld, Sd) X(Ld, Andi) X(Ld, Slli) X(Ld, Li) X(Ld, Sub) \
  X(Sd, Sd) X(Sd, Addi) X(Sd, Add) X(Sd, Ld) X(Sd, Mv) X(Lbu, Lbu) X(Lbu, Addi) X(Lbu, Beq) X(Lbu, Bne) \
  X(Slli, Add) X(Slli, Srli) X(Slli, Or) X(Srli, Srli) X(Srli, Mul) X(Srli, Add) X(Srli, Slli)               \
  X(Add, Ld) X(Add, Add) X(Add, Sltu) X(Add, Sd) X(Add, Slli) X(Add, Bne) X(Add, Bgeu) X(Add, Addiw) X(Add, Lbu) \
  X(Addi, Sd) X(Addi, Addi) X(Addi, Jr) X(Addi, Bne) X(Addi, Beq) X(Addi, Bltu) X(Addi, Mv) X(Addi, Ld) X(Addi, Add) \
  X(Mv, Mv) X(Mv, Beq) X(Mv, Ld) X(Mv, Auipc) X(Mv, Li) X(Li, Addi) X(Li, Mv) X(Li, Beq) X(Li, Bne) X(Li, Li) \
  X(Mul, Add) X(Sltu, Add) X(Sub, Slli) X(Addiw, Slli) X(Andi, Bne) X(Andi, Beq) X(Xor, Xor) X(Or, Or)       \
  X(Srliw, Slliw) X(Slliw, Or) X(Auipc, Jalr) X(Auipc, Addi) X(Auipc, Ld) X(Beq, Ld) X(Bne, Ld) X(Beq, Mv) X(Nop, Nop) X(Nop, Addi)
// clang-format on

enum class OpCode : u16 {
#define SHINKEN_ENUM(name) name,
#define SHINKEN_ENUM_PAIR(first, second) first##_##second,
  SHINKEN_OPS(SHINKEN_ENUM) SHINKEN_PAIRS(SHINKEN_ENUM_PAIR)
#undef SHINKEN_ENUM
#undef SHINKEN_ENUM_PAIR
      Count,
};

/// A jump within the page can be linked: instead of the target's distance it then holds the target block's
/// entry in the page (see `CodePage`), which spares the look-up.
enum Link : u8 { kFar = 0, kNear = 1, kLinked = 2 };

/// One decoded instruction. Field use by group:
/// - immediates and loads: a = rd, b = rs1, imm; register forms: a = rd, b = rs1, imm = rs2;
/// - stores: a = rs2, b = rs1, imm; LoadX0: a = log2(size), b = rs1, imm;
/// - branches: a = rs2, b = rs1, imm = target relative to the block's start, or the linked entry, in
///   the low 16 bits; then 7 bits: what a taken branch retires; the `Link` in the top 2 bits;
/// - Jal, J, End: a = rd, b = `Link`, imm = target relative to the block's start, or the linked entry;
/// - Auipc: imm relative to the block's start; Jalr, Jr: imm as encoded;
/// - floating point: a = rd, b = rs1, imm = rs2 | rs3 << 5 | rm << 10;
/// - Csr and the forms of it that stay within a block: a = rd, b = rs1, imm = csr | funct3 << 12.
///   CsrField: reads or swaps a register that is nothing but a field of the state; MaskIrq: clears SIE,
///   SetStatus, ClearStatus, WriteStatus: set and clear bits of sstatus or all of it, as the kernel does
///   around everything short.
struct Op {
  OpCode code;
  u8 a;
  u8 b;
  i32 imm;
};
static_assert(sizeof(Op) == 8);

inline constexpr unsigned kBranchCountShift = 16;
inline constexpr u32 kBranchCountMask = 0x7f;
inline constexpr unsigned kBranchLinkShift = 30;

/// Precedes a block's operations in the same array.
struct BlockHeader {
  u16 count;         // instructions, at least 1
  u16 bytes;         // of guest code
  u16 offset;        // of the first instruction in its page
  u16 tried;         // 1: a translation was tried
  const u8* native;  // the block translated for the host, or null
};
inline constexpr unsigned kHeaderSlots = sizeof(BlockHeader) / sizeof(Op);
static_assert(sizeof(BlockHeader) == kHeaderSlots * sizeof(Op));

inline const Op* operations_of(const BlockHeader* block) {
  return reinterpret_cast<const Op*>(block + 1);
}

/// Longest block, in instructions.
inline constexpr unsigned kMaxBlock = 64;
/// Slots that a block may take: header, instructions, the End of one that was cut.
inline constexpr unsigned kMaxBlockSlots = kHeaderSlots + kMaxBlock + 1;

}  // namespace shinken
