// Loads, stores and atomics that the TLB answers.
#include <algorithm>
#include <cstddef>

#include "monitor/cpu/csr_numbers.h"
#include "monitor/cpu/decode.h"
#include "monitor/cpu/hart.h"
#include "monitor/cpu/tlb.h"
#include "monitor/cpu/translator.h"

namespace shinken {

using namespace x86;
using namespace native;

namespace {

/// How far from the first access of a group others may lie: the further, the likelier that they are in
/// another page.
constexpr i32 kMaxSpan = 128;

struct Access {
  bool valid, write;
  unsigned log2_size;
};

Access access_of(OpCode code) {
  switch (code) {
    using enum OpCode;
    case Lb:
    case Lbu:
      return {true, false, 0};
    case Lh:
    case Lhu:
      return {true, false, 1};
    case Lw:
    case Lwu:
      return {true, false, 2};
    case Ld:
    case Fld:
      return {true, false, 3};
    case Sb:
      return {true, true, 0};
    case Sh:
      return {true, true, 1};
    case Sw:
      return {true, true, 2};
    case Sd:
    case Fsd:
      return {true, true, 3};
    default:
      return {false, false, 0};
  }
}

/// True if the operation may write the integer register.
bool writes(const Op& op, OpCode code, unsigned guest) {
  const Access access = access_of(code);
  if (access.write || code == OpCode::Fld || code == OpCode::Nop || is_branch(code)) return false;
  return op.a == guest;
}

}  // namespace

/// What follows in the block and can be served together with the current access. True if anything does.
bool Translator::find_span(unsigned log2_size, bool write, Group* group) const {
  const i32 size = 1 << log2_size;
  const i32 first = op_.imm;
  group->base = op_.b;
  group->anchor = group->low = first;
  group->high = first + size;
  bool found = false;
  if (writes(op_, first_of(op_.code), op_.b)) return false;
  for (unsigned i = index_ + 1; i < block_.count; ++i) {
    const Op& next = ops_[i];
    const OpCode code = first_of(next.code);
    const Access access = access_of(code);
    if (ends_block(code)) break;
    if (access.valid && next.b == op_.b && (write || !access.write) && access.log2_size <= log2_size) {
      const i32 distance = next.imm - first;
      const i32 end = next.imm + (1 << access.log2_size);
      if ((distance & ((1 << access.log2_size) - 1)) == 0 &&
          std::max(group->high, end) - std::min(group->low, next.imm) <= kMaxSpan) {
        group->low = std::min(group->low, next.imm);
        group->high = std::max(group->high, end);
        found = true;
      }
    }
    if (writes(next, code, op_.b)) break;
  }
  return found;
}

/// Where the host keeps what the current operation accesses at rs1 + imm. Leaves if the TLB doesn't know.
Mem Translator::address(unsigned log2_size, bool write) {
  const i32 size = 1 << log2_size;
  for (unsigned i = write ? 1 : 0; i < 2; ++i) {
    const Group& group = groups_[i];
    if (!group.live || group.base != op_.b || op_.imm < group.low || op_.imm + size > group.high) continue;
    if (((op_.imm - group.anchor) & (size - 1)) != 0 || log2_size > group.log2_size) continue;
    return {holding(kGroups + static_cast<i32>(i)), op_.imm - group.anchor};
  }
  static_assert(offsetof(TlbEntry, tag) == 0);
  const i32 table = static_cast<i32>(write ? offsetof(DataTlb, write) : offsetof(DataTlb, read));
  Group group{.log2_size = log2_size};
  const bool more = find_span(log2_size, write, &group);
  const Reg base = use(op_.b);
  w_.lea(rax, {base, op_.imm});
  w_.mov32(rcx, rax);
  w_.shift_imm(kShr, false, rcx, kPageShift - kTlbSlotShift);
  w_.alu_imm(kAnd, false, rcx, static_cast<i32>((kTlbEntries - 1) << kTlbSlotShift));
  if (more) {
    w_.mov32(rdx, rax);
    w_.alu_imm(kAnd, false, rdx, static_cast<i32>(kPageMask));
    if (group.low != group.anchor) w_.alu_imm(kSub, false, rdx, group.anchor - group.low);
    w_.alu_imm(kCmp, false, rdx, static_cast<i32>(kPageSize) - (group.high - group.low));
    leave_if(kAbove);
  }
  w_.mov(rdx, rax);
  w_.alu_imm(kAnd, true, rdx, ~static_cast<i32>(kPageMask) | (size - 1));
  w_.rm(kCmp, true, rdx, {kData, table, rcx});
  leave_if(kNotEqual);
  w_.rm(kAdd, true, rax, {kData, table + static_cast<i32>(offsetof(TlbEntry, addend)), rcx});
  rare_.back().refill = arena_.refill(write);
  rare_.back().back = w_.at();
  if (!more) return {rax, 0};
  const i32 which = kGroups + (write ? 1 : 0);
  Reg reg = holding(which);
  if (reg == kNone) reg = claim(which);
  w_.mov(reg, rax);
  group.live = true;
  groups_[write ? 1 : 0] = group;
  return {reg, 0};
}

/// Leaves while floating point is off.
void Translator::require_float() {
  constexpr i32 kField = static_cast<i32>(offsetof(HartState, sstatus)) - kStateBias;
  static_assert(kSstatusFs == 0x6000);
  w_.rm(0xf6, false, static_cast<Reg>(0), {kState, kField + 1});  // test byte, imm8
  w_.byte(0x60);
  leave_if(kEqual);
}

bool Translator::memory() {
  const OpCode code = first_of(op_.code);
  if (atomic() || reserved()) return true;
  const Access access = access_of(code);
  if (!access.valid) return false;
  const bool is_float = code == OpCode::Fld || code == OpCode::Fsd;
  const Mem float_register = {kState, static_cast<i32>(offsetof(HartState, f)) + 8 * op_.a - kStateBias};
  if (is_float) require_float();
  if (access.write) {
    Reg value = rdx;
    if (!is_float) value = use(op_.a);
    const Mem place = address(access.log2_size, true);
    if (is_float) w_.load(rdx, float_register);
    w_.rm(access.log2_size == 0 ? 0x88 : kMovStore, access.log2_size == 3, value, place,
          access.log2_size == 1 ? 0x66 : 0, access.log2_size == 0);
    return true;
  }
  const Mem place = address(access.log2_size, false);
  if (is_float) {
    w_.load(rdx, place);
    w_.store(float_register, rdx);
    w_.rm(0x80, false, static_cast<Reg>(1),
          {kState, static_cast<i32>(offsetof(HartState, sstatus)) - kStateBias + 1});  // or byte, imm8
    w_.byte(0x60);
    return true;
  }
  const Reg d = define(op_.a);
  switch (code) {
    using enum OpCode;
    case Lb:
      w_.rm(0x0fbe, true, d, place);
      break;
    case Lbu:
      w_.rm(0x0fb6, false, d, place);
      break;
    case Lh:
      w_.rm(0x0fbf, true, d, place);
      break;
    case Lhu:
      w_.rm(0x0fb7, false, d, place);
      break;
    case Lw:
      w_.rm(kMovSxd, true, d, place);
      break;
    case Lwu:
      w_.rm(kMov, false, d, place);
      break;
    default:
      w_.load(d, place);
  }
  defined(op_.a, d);
  return true;
}

/// Atomics need no lock: the hart is the only one.
bool Translator::atomic() {
  const OpCode code = op_.code;
  u32 opcode = 0;
  bool wide = false;
  switch (code) {
    using enum OpCode;
    case AmoswapD:
    case AmoaddD:
    case AmoxorD:
    case AmoandD:
    case AmoorD:
      wide = true;
      break;
    case AmoswapW:
    case AmoaddW:
    case AmoxorW:
    case AmoandW:
    case AmoorW:
      break;
    default:
      return false;
  }
  if (code == OpCode::AmoaddW || code == OpCode::AmoaddD) opcode = kAdd;
  if (code == OpCode::AmoxorW || code == OpCode::AmoxorD) opcode = kXor;
  if (code == OpCode::AmoandW || code == OpCode::AmoandD) opcode = kAnd;
  if (code == OpCode::AmoorW || code == OpCode::AmoorD) opcode = kOr;
  const unsigned rs2 = static_cast<unsigned>(op_.imm);
  const Reg b = use(rs2);
  op_.imm = 0;
  const Mem place = address(wide ? 3 : 2, true);
  w_.rm(wide ? kMov : kMovSxd, true, rcx, place);
  w_.mov(rdx, opcode == 0 ? b : rcx);
  if (opcode != 0) w_.rr(opcode, wide, rdx, b);
  w_.rm(kMovStore, wide, rdx, place);
  if (op_.a == 0) return true;
  const Reg d = define(op_.a);
  w_.mov(d, rcx);
  defined(op_.a, d);
  return true;
}

/// As `address`, at rs1, with the physical address in rcx.
Mem Translator::physical(unsigned log2_size, bool write) {
  constexpr unsigned kEntryShift = 4;
  static_assert(sizeof(TlbEntry) == 1 << kEntryShift && sizeof(DataTlb::read_page[0]) == 1 << 2);
  const i32 table = static_cast<i32>(write ? offsetof(DataTlb, write) : offsetof(DataTlb, read));
  const i32 pages = static_cast<i32>(write ? offsetof(DataTlb, write_page) : offsetof(DataTlb, read_page));
  w_.mov(rax, use(op_.b));
  w_.mov32(rcx, rax);
  w_.shift_imm(kShr, false, rcx, kPageShift - kTlbSlotShift);
  w_.alu_imm(kAnd, false, rcx, static_cast<i32>((kTlbEntries - 1) << kTlbSlotShift));
  w_.mov(rdx, rax);
  w_.alu_imm(kAnd, true, rdx, ~static_cast<i32>(kPageMask) | ((1 << log2_size) - 1));
  w_.rm(kCmp, true, rdx, {kData, table, rcx});
  const u8* first_way = w_.jcc(kEqual, nullptr);
  w_.alu_imm(kAdd, false, rcx, static_cast<i32>(sizeof(TlbEntry)));
  w_.rm(kCmp, true, rdx, {kData, table, rcx});
  leave_if(kNotEqual);
  w_.patch(first_way, w_.at());
  w_.mov32(rdx, rax);
  w_.rm(kAdd, true, rax, {kData, table + static_cast<i32>(offsetof(TlbEntry, addend)), rcx});
  w_.shift_imm(kShr, false, rcx, kEntryShift - 2);
  w_.rm(kMov, false, rcx, {kData, pages, rcx});
  w_.alu_imm(kAdd, true, rcx, static_cast<i32>(kRamBase >> kPageShift));
  w_.shift_imm(kShl, true, rcx, kPageShift);
  w_.alu_imm(kAnd, false, rdx, static_cast<i32>(kPageMask));
  w_.alu(kOr, true, rcx, rdx);
  return {rax, 0};
}

bool Translator::reserved() {
  const OpCode code = op_.code;
  const bool loads = code == OpCode::LrW || code == OpCode::LrD;
  if (!loads && code != OpCode::ScW && code != OpCode::ScD) return false;
  const bool wide = code == OpCode::LrD || code == OpCode::ScD;
  constexpr Mem kReservation = {kState, static_cast<i32>(offsetof(HartState, reservation)) - kStateBias};
  if (loads) {
    const Mem place = physical(wide ? 3 : 2, false);
    w_.store(kReservation, rcx);
    if (op_.a == 0) return true;
    const Reg d = define(op_.a);
    w_.rm(wide ? kMov : kMovSxd, true, d, place);
    defined(op_.a, d);
    return true;
  }
  const Reg value = use(static_cast<unsigned>(op_.imm));
  const Mem place = physical(wide ? 3 : 2, true);
  w_.mov_imm(rdx, -1);
  w_.rm(kCmp, true, rcx, kReservation);
  w_.store(kReservation, rdx);
  w_.mov_imm(rcx, 1);
  const u8* lost = w_.jcc(kNotEqual, nullptr);
  w_.rm(kMovStore, wide, value, place);
  w_.mov_imm(rcx, 0);
  w_.patch(lost, w_.at());
  if (op_.a == 0) return true;
  const Reg d = define(op_.a);
  w_.mov(d, rcx);
  defined(op_.a, d);
  return true;
}

/// To be called where what memory looks like changes.
void Translator::forget_groups() {
  for (Group& group : groups_) group.live = false;
  for (Slot& slot : slots_) {
    if (slot.holds >= kGroups) slot = {};
  }
}

}  // namespace shinken
