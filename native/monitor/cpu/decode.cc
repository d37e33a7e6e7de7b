#include "monitor/cpu/decode.h"

#include <cstring>

#include "monitor/cpu/csr_numbers.h"
#include "monitor/cpu/decode_parts.h"

namespace shinken {

using namespace decoding;
using enum OpCode;

namespace {

i32 imm_i(u32 raw) {
  return static_cast<i32>(raw) >> 20;
}
i32 imm_s(u32 raw) {
  return sign_extend(bits(raw, 7, 5) | bits(raw, 25, 7) << 5, 12);
}
i32 imm_b(u32 raw) {
  return sign_extend(
      bits(raw, 8, 4) << 1 | bits(raw, 25, 6) << 5 | bits(raw, 7, 1) << 11 | bits(raw, 31, 1) << 12, 13);
}
i32 imm_j(u32 raw) {
  return sign_extend(
      bits(raw, 21, 10) << 1 | bits(raw, 20, 1) << 11 | bits(raw, 12, 8) << 12 | bits(raw, 31, 1) << 20, 21);
}

Op decode_load(u32 raw, u32 rd, u32 rs1, u32 f3) {
  static constexpr OpCode codes[8] = {Lb, Lh, Lw, Ld, Lbu, Lhu, Lwu, Illegal};
  if (codes[f3] == Illegal) return illegal();
  return load(codes[f3], f3 & 3, rd, rs1, imm_i(raw));
}

Op decode_op_imm(u32 raw, u32 rd, u32 rs1, u32 f3) {
  static constexpr OpCode codes[8] = {Addi, Slli, Slti, Sltiu, Xori, Srli, Ori, Andi};
  if (f3 == 1 || f3 == 5) {
    const u32 high = raw >> 26;
    const i32 amount = static_cast<i32>(bits(raw, 20, 6));
    if (high == 0) return pure(codes[f3], rd, rs1, amount);
    if (high == 0x10 && f3 == 5) return pure(Srai, rd, rs1, amount);
    return illegal();
  }
  return pure(codes[f3], rd, rs1, imm_i(raw));
}

Op decode_op_imm_32(u32 raw, u32 rd, u32 rs1, u32 f3) {
  const u32 high = raw >> 25;
  const i32 amount = static_cast<i32>(bits(raw, 20, 5));
  if (f3 == 0) return pure(Addiw, rd, rs1, imm_i(raw));
  if (f3 == 1 && high == 0) return pure(Slliw, rd, rs1, amount);
  if (f3 == 5 && high == 0) return pure(Srliw, rd, rs1, amount);
  if (f3 == 5 && high == 0x20) return pure(Sraiw, rd, rs1, amount);
  return illegal();
}

Op decode_op(u32 raw, u32 rd, u32 rs1, u32 f3) {
  static constexpr OpCode base[8] = {Add, Sll, Slt, Sltu, Xor, Srl, Or, And};
  static constexpr OpCode muldiv[8] = {Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu};
  const i32 rs2 = static_cast<i32>(bits(raw, 20, 5));
  switch (raw >> 25) {
    case 0x00:
      return pure(base[f3], rd, rs1, rs2);
    case 0x01:
      return pure(muldiv[f3], rd, rs1, rs2);
    case 0x20:
      if (f3 == 0) return pure(Sub, rd, rs1, rs2);
      if (f3 == 5) return pure(Sra, rd, rs1, rs2);
      return illegal();
    default:
      return illegal();
  }
}

Op decode_op_32(u32 raw, u32 rd, u32 rs1, u32 f3) {
  static constexpr OpCode muldiv[8] = {Mulw, Illegal, Illegal, Illegal, Divw, Divuw, Remw, Remuw};
  const i32 rs2 = static_cast<i32>(bits(raw, 20, 5));
  const u32 f7 = raw >> 25;
  if (f7 == 0x01 && muldiv[f3] != Illegal) return pure(muldiv[f3], rd, rs1, rs2);
  if (f7 == 0x00 && f3 == 0) return pure(Addw, rd, rs1, rs2);
  if (f7 == 0x00 && f3 == 1) return pure(Sllw, rd, rs1, rs2);
  if (f7 == 0x00 && f3 == 5) return pure(Srlw, rd, rs1, rs2);
  if (f7 == 0x20 && f3 == 0) return pure(Subw, rd, rs1, rs2);
  if (f7 == 0x20 && f3 == 5) return pure(Sraw, rd, rs1, rs2);
  return illegal();
}

Op decode_amo(u32 raw, u32 rd, u32 rs1, u32 f3) {
  if (f3 != 2 && f3 != 3) return illegal();
  const bool wide = f3 == 3;
  const i32 rs2 = static_cast<i32>(bits(raw, 20, 5));
  OpCode code = Illegal;
  switch (raw >> 27) {
    case 0x02:
      if (rs2 != 0) return illegal();
      code = wide ? LrD : LrW;
      break;
    case 0x03:
      code = wide ? ScD : ScW;
      break;
    case 0x01:
      code = wide ? AmoswapD : AmoswapW;
      break;
    case 0x00:
      code = wide ? AmoaddD : AmoaddW;
      break;
    case 0x04:
      code = wide ? AmoxorD : AmoxorW;
      break;
    case 0x0c:
      code = wide ? AmoandD : AmoandW;
      break;
    case 0x08:
      code = wide ? AmoorD : AmoorW;
      break;
    case 0x10:
      code = wide ? AmominD : AmominW;
      break;
    case 0x14:
      code = wide ? AmomaxD : AmomaxW;
      break;
    case 0x18:
      code = wide ? AmominuD : AmominuW;
      break;
    case 0x1c:
      code = wide ? AmomaxuD : AmomaxuW;
      break;
    default:
      return illegal();
  }
  return make(code, rd, rs1, rs2);
}

/// The most frequent uses, in the kernel's entries and around its locks, need not end a block.
OpCode csr_form(u32 number, u32 funct3, u32 rs1) {
  const bool reads = funct3 == 2 && rs1 == 0;
  const bool swaps = funct3 == 1;
  switch (number) {
    case kCsrSstatus:
      if (funct3 == 7 && rs1 == kSstatusSie) return MaskIrq;
      return funct3 == 1                  ? WriteStatus
             : funct3 == 2 || funct3 == 6 ? SetStatus
             : funct3 == 3                ? ClearStatus
                                          : Csr;
    case kCsrSscratch:
    case kCsrSepc:
      return reads || swaps ? CsrField : Csr;
    case kCsrScause:
    case kCsrStval:
      return reads ? CsrField : Csr;
    default:
      return Csr;
  }
}

Op decode_system(u32 raw, u32 rd, u32 rs1, u32 f3) {
  if (f3 != 0) {
    if (f3 == 4) return illegal();
    return make(csr_form(raw >> 20, f3, rs1), rd, rs1, static_cast<i32>(raw >> 20 | f3 << 12));
  }
  switch (raw) {
    case 0x00000073:
      return make(Ecall, 0, 0, 0);
    case 0x00100073:
      return make(Ebreak, 0, 0, 0);
    case 0x10200073:
      return make(Sret, 0, 0, 0);
    case 0x10500073:
      return make(Wfi, 0, 0, 0);
    default:
      break;
  }
  if (raw >> 25 == 0x09 && rd == 0) return make(SfenceVma, 0, rs1, static_cast<i32>(bits(raw, 20, 5)));
  return illegal();
}

Op decode_wide(u32 raw) {
  const u32 rd = bits(raw, 7, 5);
  const u32 rs1 = bits(raw, 15, 5);
  const u32 rs2 = bits(raw, 20, 5);
  const u32 f3 = bits(raw, 12, 3);
  static constexpr OpCode stores[8] = {Sb, Sh, Sw, Sd, Illegal, Illegal, Illegal, Illegal};
  static constexpr OpCode branches[8] = {Beq, Bne, Illegal, Illegal, Blt, Bge, Bltu, Bgeu};
  switch (bits(raw, 2, 5)) {
    case 0x00:
      return decode_load(raw, rd, rs1, f3);
    case 0x01:
      if (f3 == 2) return make(Flw, rd, rs1, imm_i(raw));
      if (f3 == 3) return make(Fld, rd, rs1, imm_i(raw));
      return illegal();
    case 0x03:
      if (f3 == 0) return make(Nop, 0, 0, 0);  // fence: one hart, in order
      if (f3 == 1) return make(FenceI, 0, 0, 0);
      return illegal();
    case 0x04:
      return decode_op_imm(raw, rd, rs1, f3);
    case 0x05:
      return pure(Auipc, rd, 0, static_cast<i32>(raw & 0xfffff000));
    case 0x06:
      return decode_op_imm_32(raw, rd, rs1, f3);
    case 0x08:
      if (stores[f3] == Illegal) return illegal();
      return make(stores[f3], rs2, rs1, imm_s(raw));
    case 0x09:
      if (f3 == 2) return make(Fsw, rs2, rs1, imm_s(raw));
      if (f3 == 3) return make(Fsd, rs2, rs1, imm_s(raw));
      return illegal();
    case 0x0b:
      return decode_amo(raw, rd, rs1, f3);
    case 0x0c:
      return decode_op(raw, rd, rs1, f3);
    case 0x0d:
      return pure(Li, rd, 0, static_cast<i32>(raw & 0xfffff000));
    case 0x0e:
      return decode_op_32(raw, rd, rs1, f3);
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x13:
    case 0x14:
      return decode_float(raw);
    case 0x18:
      if (branches[f3] == Illegal) return illegal();
      return make(branches[f3], rs2, rs1, imm_b(raw));
    case 0x19:
      if (f3 != 0) return illegal();
      return jump_register(rd, rs1, imm_i(raw));
    case 0x1b:
      return jump(rd, imm_j(raw));
    case 0x1c:
      return decode_system(raw, rd, rs1, f3);
    default:
      return illegal();
  }
}

/// The code that stands for `first` followed by `second`, or `first` itself.
OpCode paired(OpCode first, OpCode second) {
  switch (static_cast<u32>(first) << 16 | static_cast<u32>(second)) {
#define SHINKEN_CASE(one, two)                              \
  case static_cast<u32>(one) << 16 | static_cast<u32>(two): \
    return one##_##two;
    SHINKEN_PAIRS(SHINKEN_CASE)
#undef SHINKEN_CASE
    default:
      return first;
  }
}

/// Turns an immediate relative to the instruction into one relative to the block; `retired` counts this
/// instruction.
void make_block_relative(Op& op, unsigned offset_in_block, unsigned retired) {
  if (is_branch(op.code)) {
    op.imm = static_cast<i32>(static_cast<u16>(op.imm + static_cast<i32>(offset_in_block)) |
                              retired << kBranchCountShift);
  } else if (op.code == Jal || op.code == J || op.code == Auipc) {
    op.imm += static_cast<i32>(offset_in_block);
  }
}

/// Marks jumps whose target lies in the page as linkable.
void mark_near(Op& op, unsigned block_offset) {
  if (!is_branch(op.code) && !is_jump(op.code)) return;
  const i64 target = static_cast<i64>(block_offset) + distance_of(op);
  if (target < 0 || target >= static_cast<i64>(kPageSize)) return;
  if (is_branch(op.code)) {
    op.imm = static_cast<i32>(static_cast<u32>(op.imm) | u32{kNear} << kBranchLinkShift);
  } else {
    op.b = kNear;
  }
}

}  // namespace

Link link_of(const Op& op) {
  return static_cast<Link>(is_branch(op.code) ? static_cast<u32>(op.imm) >> kBranchLinkShift : op.b);
}
i32 distance_of(const Op& op) {
  return is_branch(op.code) ? static_cast<i16>(op.imm) : op.imm;
}
u16 linked_entry(const Op& op) {
  return static_cast<u16>(op.imm);
}
void set_link(Op& op, u16 entry) {
  if (is_branch(op.code)) {
    const u32 count = static_cast<u32>(op.imm) & kBranchCountMask << kBranchCountShift;
    op.imm = static_cast<i32>(entry | count | u32{kLinked} << kBranchLinkShift);
  } else {
    op.imm = entry;
    op.b = kLinked;
  }
}

Op decode(u32 raw) {
  return is_wide(raw) ? decode_wide(raw) : decode_compressed(raw & 0xffff);
}

bool ends_block(OpCode code) {
  switch (code) {
    case Jal:
    case J:
    case Jalr:
    case Jr:
    case Cross:
    case Csr:
    case Ecall:
    case Ebreak:
    case Sret:
    case Wfi:
    case SfenceVma:
    case FenceI:
    case End:
    case Illegal:
      return true;
    default:
      return false;
  }
}

OpCode first_of(OpCode code) {
  switch (code) {
#define SHINKEN_CASE(one, two) \
  case one##_##two:            \
    return one;
    SHINKEN_PAIRS(SHINKEN_CASE)
#undef SHINKEN_CASE
    default:
      return code;
  }
}

unsigned decode_block(const u8* page, unsigned offset, unsigned limit, Op* out) {
  unsigned at = offset;
  unsigned count = 0;
  Op* next = out + kHeaderSlots;
  bool ended = false;
  while (count < limit && at < kPageSize) {
    u16 half = 0;
    std::memcpy(&half, page + at, 2);
    u32 raw = half;
    unsigned length = 2;
    if (is_wide(raw)) {
      if (at + 4 > kPageSize) {
        if (count != 0) break;
        *next++ = make(Cross, 0, 0, 0);
        count = 1;
        at += 4;
        ended = true;
        break;
      }
      std::memcpy(&raw, page + at, 4);
      length = 4;
    }
    Op op = decode(raw);
    ++count;
    make_block_relative(op, at - offset, count);
    at += length;
    *next++ = op;
    if (ends_block(op.code)) {
      ended = true;
      break;
    }
  }
  if (!ended) *next++ = make(End, 0, kFar, static_cast<i32>(at - offset));
  for (Op* op = out + kHeaderSlots; op != next; ++op) mark_near(*op, offset);
  for (Op* op = out + kHeaderSlots; op + 1 < next; ++op) {
    const OpCode code = paired(op->code, op[1].code);
    if (code == op->code) continue;
    op->code = code;
    ++op;
  }
  const BlockHeader header{static_cast<u16>(count), static_cast<u16>(at - offset), static_cast<u16>(offset),
                           0, nullptr};
  std::memcpy(out, &header, sizeof header);
  return static_cast<unsigned>(next - out);
}

unsigned decode_single(u32 raw, unsigned offset, Op* out) {
  Op op = decode(raw);
  make_block_relative(op, 0, 1);
  Op* next = out + kHeaderSlots;
  *next++ = op;
  if (!ends_block(op.code)) *next++ = make(End, 0, kFar, is_wide(raw) ? 4 : 2);
  const BlockHeader header{1, static_cast<u16>(is_wide(raw) ? 4 : 2), static_cast<u16>(offset), 0, nullptr};
  std::memcpy(out, &header, sizeof header);
  return static_cast<unsigned>(next - out);
}

}  // namespace shinken
