#pragma once
// Writes x86-64 instructions. Encoding: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
// 2, chapter 2.
#include <cstring>

#include "monitor/base/types.h"

namespace shinken::x86 {

enum Reg : u8 { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, kNone = 0xff };

/// Condition codes, as in the opcodes of jcc and setcc.
enum Cond : u8 { kBelow = 2, kAboveEqual, kEqual, kNotEqual, kBelowEqual, kAbove, kLess = 12, kGreaterEqual };

/// [base + index + disp]
struct Mem {
  Reg base;
  i32 disp;
  Reg index = kNone;
};

/// Opcodes of the two-operand group, in the form `reg, reg/memory`.
enum Alu : u8 { kOr = 0x0b, kAdd = 0x03, kAnd = 0x23, kSub = 0x2b, kXor = 0x33, kCmp = 0x3b };
/// Shifts, as the opcode extension.
enum Shift : u8 { kShl = 4, kShr = 5, kSar = 7 };

inline constexpr u32 kMov = 0x8b, kMovStore = 0x89, kLea = 0x8d, kMovSxd = 0x63, kTest = 0x85, kImul = 0x0faf,
                     kMovups = 0x0f10, kMovupsStore = 0x0f11;

class Writer {
 public:
  /// Writes for execution at `at`; there the memory is found at a distance of `alias`.
  Writer(const u8* at, const u8* end, i64 alias) : at_(at), end_(end), alias_(alias) {}
  const u8* at() const { return at_; }
  /// True once something did not fit; what was written then is of no use.
  bool overflow() const { return overflow_; }

  /// `opcode reg, rm` between registers; `wide`: 64 bits.
  void rr(u32 opcode, bool wide, Reg reg, Reg rm) {
    rex(wide, reg, kNone, rm, false);
    code(opcode);
    byte(static_cast<u8>(0xc0 | (reg & 7) << 3 | (rm & 7)));
  }
  /// The same with memory. `prefix` 0x66 makes it 16 bits wide; `bytes`: `reg` is a byte register.
  void rm(u32 opcode, bool wide, Reg reg, Mem mem, u8 prefix = 0, bool bytes = false) {
    if (prefix != 0) byte(prefix);
    rex(wide, reg, mem.index, mem.base, bytes && reg >= rsp);
    code(opcode);
    const bool sib = mem.index != kNone || (mem.base & 7) == rsp;
    const bool none = mem.disp == 0 && (mem.base & 7) != rbp;
    const bool small = mem.disp == static_cast<i8>(mem.disp);
    const u8 mode = none ? 0 : small ? 0x40 : 0x80;
    byte(static_cast<u8>(mode | (reg & 7) << 3 | (sib ? rsp : mem.base & 7)));
    if (sib) byte(static_cast<u8>((mem.index == kNone ? rsp : mem.index & 7) << 3 | (mem.base & 7)));
    if (none) return;
    if (small) return byte(static_cast<u8>(mem.disp));
    word(static_cast<u32>(mem.disp));
  }
  void alu(Alu op, bool wide, Reg reg, Reg other) { rr(op, wide, reg, other); }
  void alu_imm(Alu op, bool wide, Reg reg, i32 imm) {
    rex(wide, kNone, kNone, reg, false);
    const bool small = imm == static_cast<i8>(imm);
    byte(small ? 0x83 : 0x81);
    byte(static_cast<u8>(0xc0 | (op & 0x38) | (reg & 7)));
    if (small) return byte(static_cast<u8>(imm));
    word(static_cast<u32>(imm));
  }
  void mov(Reg reg, Reg from) {
    if (reg != from) rr(kMov, true, reg, from);
  }
  void mov32(Reg reg, Reg from) { rr(kMov, false, reg, from); }
  /// A sign-extended immediate; leaves the flags alone.
  void mov_imm(Reg reg, i32 imm) {
    rex(imm < 0, kNone, kNone, reg, false);
    if (imm < 0) {
      byte(0xc7);
      byte(static_cast<u8>(0xc0 | (reg & 7)));
    } else {
      byte(static_cast<u8>(0xb8 | (reg & 7)));
    }
    word(static_cast<u32>(imm));
  }
  void load(Reg reg, Mem mem) { rm(kMov, true, reg, mem); }
  void store(Mem mem, Reg reg) { rm(kMovStore, true, reg, mem); }
  void lea(Reg reg, Mem mem) { rm(kLea, true, reg, mem); }
  void shift_imm(Shift op, bool wide, Reg reg, u8 count) {
    rex(wide, kNone, kNone, reg, false);
    byte(0xc1);
    byte(static_cast<u8>(0xc0 | op << 3 | (reg & 7)));
    byte(count);
  }
  void shift_cl(Shift op, bool wide, Reg reg) { unary(0xd3, op, wide, reg); }
  /// mul 4, imul 5, div 6, idiv 7: on rdx:rax.
  void multiply(u8 extension, bool wide, Reg reg) { unary(0xf7, extension, wide, reg); }
  void invert(Reg reg) { unary(0xf7, 2, true, reg); }
  void sign_into_rdx(bool wide) {
    if (wide) byte(0x48);
    byte(0x99);
  }
  void set(Cond cond) {  // al
    byte(0x0f);
    byte(static_cast<u8>(0x90 | cond));
    byte(0xc0);
  }
  void push(Reg reg) { rex(false, kNone, kNone, reg, false), byte(static_cast<u8>(0x50 | (reg & 7))); }
  void pop(Reg reg) { rex(false, kNone, kNone, reg, false), byte(static_cast<u8>(0x58 | (reg & 7))); }
  void ret() { byte(0xc3); }
  void call(Mem target) { rm(0xff, false, static_cast<Reg>(2), target); }
  void call(const u8* target) { byte(0xe8), distance(target); }
  void jmp(Reg reg) { unary(0xff, 4, false, reg); }
  /// A jump to `target`, which may be null for now; returns where its distance stands, for `patch`.
  const u8* jmp(const u8* target) { return byte(0xe9), distance(target); }
  const u8* jcc(Cond cond, const u8* target) {
    byte(0x0f);
    byte(static_cast<u8>(0x80 | cond));
    return distance(target);
  }
  void byte(u8 value) {
    if (at_ == end_) {
      overflow_ = true;
    } else {
      *here(at_++) = value;
    }
  }
  void word(u32 value) {
    for (unsigned i = 0; i < 4; ++i) byte(static_cast<u8>(value >> 8 * i));
  }

  static bool reaches(const u8* place, const u8* target) {
    const i64 far = target - (place + 4);
    return far == static_cast<i32>(far);
  }
  void patch(const u8* place, const u8* target) {
    if (overflow_) return;
    const i32 far = static_cast<i32>(target - (place + 4));
    std::memcpy(here(place), &far, sizeof far);
  }

 private:
  void unary(u8 opcode, u8 extension, bool wide, Reg reg) {
    rex(wide, kNone, kNone, reg, false);
    byte(opcode);
    byte(static_cast<u8>(0xc0 | extension << 3 | (reg & 7)));
  }
  void rex(bool wide, u8 reg, u8 index, u8 base, bool force) {
    const auto high = [](u8 r) { return r != kNone && r >= r8; };
    const u8 value = static_cast<u8>(0x40 | (wide ? 8 : 0) | (high(reg) ? 4 : 0) | (high(index) ? 2 : 0) |
                                     (high(base) ? 1 : 0));
    if (value != 0x40 || force) byte(value);
  }
  void code(u32 opcode) {
    if (opcode > 0xff) byte(static_cast<u8>(opcode >> 8));
    byte(static_cast<u8>(opcode));
  }
  const u8* distance(const u8* target) {
    const u8* place = at_;
    word(0);
    if (target != nullptr) patch(place, target);
    return place;
  }
  u8* here(const u8* place) const { return const_cast<u8*>(place) + alias_; }

  const u8* at_;
  const u8* end_;
  i64 alias_;
  bool overflow_ = false;
};

}  // namespace shinken::x86
