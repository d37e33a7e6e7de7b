// The plain integer operations; the RISC-V manual says what each does, the interpreter's execute_integer.inc
// in C++.
#include "monitor/cpu/decode.h"
#include "monitor/cpu/translator.h"

namespace shinken {

using namespace x86;
using namespace native;

/// rd = rs1 op rs2
void Translator::two_operands(u32 opcode, bool commutative) {
  const Reg a = use(op_.b);
  const Reg b = use(static_cast<unsigned>(op_.imm));
  Reg d = define(op_.a);
  if (d == a) {
    w_.rr(opcode, true, d, b);
  } else if (d != b) {
    w_.mov(d, a);
    w_.rr(opcode, true, d, b);
  } else if (commutative) {
    w_.rr(opcode, true, d, a);
  } else {
    w_.mov(rax, a);
    w_.rr(opcode, true, rax, b);
    w_.mov(d, rax);
  }
  defined(op_.a, d);
}

/// rd = the low word of rax, sign-extended
void Translator::result_of_word() {
  const Reg d = define(op_.a);
  w_.rr(kMovSxd, true, d, rax);
  defined(op_.a, d);
}

/// rd = whether the condition holds, after a comparison
void Translator::set_if(Cond cond) {
  w_.set(cond);
  const Reg d = define(op_.a);
  w_.rr(0x0fb6, false, d, rax);
  defined(op_.a, d);
}

void Translator::shift_register(Shift shift, bool wide) {
  const Reg a = use(op_.b);
  w_.mov32(rcx, use(static_cast<unsigned>(op_.imm)));
  w_.mov(rax, a);
  w_.shift_cl(shift, wide, rax);
  if (!wide) return result_of_word();
  const Reg d = define(op_.a);
  w_.mov(d, rax);
  defined(op_.a, d);
}

void Translator::multiply_high(bool is_signed) {
  const Reg a = use(op_.b);
  const Reg b = use(static_cast<unsigned>(op_.imm));
  w_.mov(rax, a);
  w_.multiply(is_signed ? 5 : 4, true, b);
  const Reg d = define(op_.a);
  w_.mov(d, rdx);
  defined(op_.a, d);
}

/// Division by zero, and by -1 because of overflow, are the interpreter's.
void Translator::divide(bool is_signed, bool wide, bool remainder) {
  const Reg a = use(op_.b);
  const Reg b = use(static_cast<unsigned>(op_.imm));
  if (is_signed) {
    w_.rm(kLea, wide, rcx, {b, 1});
    w_.alu_imm(kCmp, wide, rcx, 1);
    leave_if(kBelowEqual);
  } else {
    w_.rr(kTest, wide, b, b);
    leave_if(kEqual);
  }
  w_.rr(kMov, wide, rax, a);
  if (is_signed) {
    w_.sign_into_rdx(wide);
  } else {
    w_.alu(kXor, false, rdx, rdx);
  }
  w_.multiply(is_signed ? 7 : 6, wide, b);
  if (remainder) w_.mov(rax, rdx);
  if (!wide) return result_of_word();
  const Reg d = define(op_.a);
  w_.mov(d, rax);
  defined(op_.a, d);
}

bool Translator::integer() {
  const auto immediate = [this](Alu op) {
    const Reg a = use(op_.b);
    const Reg d = define(op_.a);
    w_.mov(d, a);
    w_.alu_imm(op, true, d, op_.imm);
    defined(op_.a, d);
  };
  const auto shift = [this](Shift kind) {
    const Reg a = use(op_.b);
    const Reg d = define(op_.a);
    w_.mov(d, a);
    w_.shift_imm(kind, true, d, static_cast<u8>(op_.imm & 63));
    defined(op_.a, d);
  };
  const auto shift_word = [this](Shift kind) {
    w_.mov32(rax, use(op_.b));
    w_.shift_imm(kind, false, rax, static_cast<u8>(op_.imm & 31));
    result_of_word();
  };
  const auto word = [this](u32 opcode) {
    const Reg a = use(op_.b);
    const Reg b = use(static_cast<unsigned>(op_.imm));
    w_.mov32(rax, a);
    w_.rr(opcode, false, rax, b);
    result_of_word();
  };
  const auto compare = [this](Cond cond) {
    const Reg a = use(op_.b);
    w_.alu(kCmp, true, a, use(static_cast<unsigned>(op_.imm)));
    set_if(cond);
  };
  const auto compare_immediate = [this](Cond cond) {
    w_.alu_imm(kCmp, true, use(op_.b), op_.imm);
    set_if(cond);
  };
  const auto address_of = [this](Reg base, i32 distance) {
    const Reg d = define(op_.a);
    w_.lea(d, {base, distance});
    defined(op_.a, d);
  };
  switch (first_of(op_.code)) {
    using enum OpCode;
    case Nop:
      return true;
    case Li: {
      const Reg d = define(op_.a);
      w_.mov_imm(d, op_.imm);
      defined(op_.a, d);
      return true;
    }
    case Mv: {
      const Reg a = use(op_.b);
      const Reg d = define(op_.a);
      w_.mov(d, a);
      defined(op_.a, d);
      return true;
    }
    case Auipc: {
      const i64 distance = i64{block_.offset} + op_.imm;
      if (distance != static_cast<i32>(distance)) return false;
      return address_of(kVirtualPage, static_cast<i32>(distance)), true;
    }
    case Addi:
      return address_of(use(op_.b), op_.imm), true;
    case Slti:
      return compare_immediate(kLess), true;
    case Sltiu:
      return compare_immediate(kBelow), true;
    case Xori:
      return immediate(kXor), true;
    case Ori:
      return immediate(kOr), true;
    case Andi:
      return immediate(kAnd), true;
    case Slli:
      return shift(kShl), true;
    case Srli:
      return shift(kShr), true;
    case Srai:
      return shift(kSar), true;
    case Addiw:
      w_.rm(kLea, false, rax, {use(op_.b), op_.imm});
      return result_of_word(), true;
    case Slliw:
      return shift_word(kShl), true;
    case Srliw:
      return shift_word(kShr), true;
    case Sraiw:
      return shift_word(kSar), true;
    case Add:
      return two_operands(kAdd, true), true;
    case Sub:
      return two_operands(kSub, false), true;
    case Xor:
      return two_operands(kXor, true), true;
    case Or:
      return two_operands(kOr, true), true;
    case And:
      return two_operands(kAnd, true), true;
    case Mul:
      return two_operands(kImul, true), true;
    case Sll:
      return shift_register(kShl, true), true;
    case Srl:
      return shift_register(kShr, true), true;
    case Sra:
      return shift_register(kSar, true), true;
    case Sllw:
      return shift_register(kShl, false), true;
    case Srlw:
      return shift_register(kShr, false), true;
    case Sraw:
      return shift_register(kSar, false), true;
    case Slt:
      return compare(kLess), true;
    case Sltu:
      return compare(kBelow), true;
    case Addw:
      return word(kAdd), true;
    case Subw:
      return word(kSub), true;
    case Mulw:
      return word(kImul), true;
    case Mulh:
      return multiply_high(true), true;
    case Mulhu:
      return multiply_high(false), true;
    case Div:
      return divide(true, true, false), true;
    case Divu:
      return divide(false, true, false), true;
    case Rem:
      return divide(true, true, true), true;
    case Remu:
      return divide(false, true, true), true;
    case Divw:
      return divide(true, false, false), true;
    case Divuw:
      return divide(false, false, false), true;
    case Remw:
      return divide(true, false, true), true;
    case Remuw:
      return divide(false, false, true), true;
    default:
      return false;
  }
}

}  // namespace shinken
