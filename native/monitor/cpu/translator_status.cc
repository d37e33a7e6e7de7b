// What the kernel does with its status registers at every entry and around every lock.
#include <cstddef>

#include "monitor/cpu/csr_numbers.h"
#include "monitor/cpu/hart.h"
#include "monitor/cpu/tlb.h"
#include "monitor/cpu/translator.h"

namespace shinken {

using namespace x86;
using namespace native;

namespace {

constexpr i32 field(std::size_t at) {
  return static_cast<i32>(at) - kStateBias;
}
constexpr Mem kStatus = {kState, field(offsetof(HartState, sstatus))};
constexpr Mem kMode = {kState, field(offsetof(HartState, mode))};
constexpr Mem kFrame = {rsp, 0};
constexpr u8 kUser = 0, kSupervisor = 1;

Mem field_of(u32 number) {
  switch (number) {
    case kCsrSscratch:
      return {kState, field(offsetof(HartState, sscratch))};
    case kCsrSepc:
      return {kState, field(offsetof(HartState, sepc))};
    case kCsrScause:
      return {kState, field(offsetof(HartState, scause))};
    default:
      return {kState, field(offsetof(HartState, stval))};
  }
}

}  // namespace

/// Blocks are the same for all modes; these operations are not.
void Translator::require_mode(u8 mode) {
  w_.rm(0x80, false, static_cast<Reg>(7), kMode);  // cmp byte, imm8
  w_.byte(mode);
  leave_if(kNotEqual);
}

/// Leaves if an interrupt would be taken as soon as the status allows.
void Translator::require_quiet() {
  w_.load(rcx, kFrame);
  w_.rm(0x83, true, static_cast<Reg>(7),
        {rcx, static_cast<i32>(offsetof(NativeFrame, quiet))});  // cmp qword, imm8
  w_.byte(0);
  leave_if(kEqual);
}

/// sstatus as it reads: UXL is constant, SD sums FS up.
void Translator::read_status(Reg into) {
  static_assert(kSstatusUxl64 == u64{2} << 32 && kSstatusSd == u64{1} << 63 && kSstatusFs == 0x6000);
  w_.load(into, kStatus);
  w_.mov32(rcx, into);
  w_.alu_imm(kAnd, false, rcx, 0x6000);
  w_.alu_imm(kAdd, false, rcx, 0x2000);  // carries into bit 15 if both bits are set
  w_.alu_imm(kAnd, false, rcx, 0x8000);
  w_.shift_imm(kShl, true, rcx, 63 - 15);
  w_.alu(kOr, true, into, rcx);
  w_.mov_imm(rcx, 2);
  w_.shift_imm(kShl, true, rcx, 32);
  w_.alu(kOr, true, into, rcx);
}

/// Writes, sets or clears bits of sstatus. MXR is the interpreter's.
void Translator::change_status() {
  const bool clears = op_.code == OpCode::ClearStatus;
  const bool writes = op_.code == OpCode::WriteStatus;
  constexpr i32 kWritable = static_cast<i32>(kSstatusWritable);
  static_assert(kSstatusWritable == kWritable);
  require_mode(kSupervisor);
  if (!clears) require_quiet();
  if (op_.code == OpCode::SetStatus && op_.imm >> 12 == 6) {
    w_.mov_imm(rdx, op_.b);
  } else {
    w_.mov(rdx, use(op_.b));
  }
  w_.mov32(rcx, rdx);
  if (writes) w_.rm(kXor, false, rcx, kStatus);
  w_.alu_imm(kAnd, false, rcx, static_cast<i32>(kSstatusMxr));
  leave_if(kNotEqual);
  if (op_.a != 0) {
    const Reg d = define(op_.a);
    read_status(d);
    defined(op_.a, d);
  }
  w_.alu_imm(kAnd, true, rdx, kWritable);
  if (clears) {
    w_.invert(rdx);
    w_.rm(0x21, true, rdx, kStatus);  // and qword, reg
  } else {
    if (writes) {
      w_.rm(0x81, true, static_cast<Reg>(4), kStatus);  // and qword, imm32
      w_.word(static_cast<u32>(~kWritable));
    }
    w_.rm(0x09, true, rdx, kStatus);  // or qword, reg
  }
  w_.mov_imm(rcx, 1);
  enter_context(rcx);
}

/// What memory looks like in the mode that a register tells, rcx, with the present status; rax and rdx go.
void Translator::enter_context(Reg mode) {
  static_assert(static_cast<int>(TlbContext::kUser) == 0 && static_cast<int>(TlbContext::kSupervisor) == 1 &&
                static_cast<int>(TlbContext::kSupervisorSum) == 2 && kSstatusSum == 1 << 18);
  w_.load(rax, kStatus);
  w_.shift_imm(kShr, false, rax, 18);
  w_.alu_imm(kAnd, false, rax, 1);
  w_.alu_imm(kAdd, false, rax, 1);
  w_.rr(kImul, false, rax, mode);
  w_.shift_imm(kShl, false, rax, 3);
  w_.load(rdx, kFrame);
  w_.load(kData, {rdx, static_cast<i32>(offsetof(NativeFrame, contexts)), rax});
  forget_groups();
}

void Translator::return_from_trap() {
  static_assert(kSstatusSie == 2 && kSstatusSpie == 0x20 && kSstatusSpp == 0x100);
  require_mode(kSupervisor);
  require_quiet();
  w_.load(rdx, kStatus);
  w_.mov32(rcx, rdx);
  w_.shift_imm(kShr, false, rcx, 8);
  w_.alu_imm(kAnd, false, rcx, 1);  // the mode
  w_.mov32(rax, rdx);
  w_.shift_imm(kShr, false, rax, 4);
  w_.alu_imm(kAnd, false, rax, static_cast<i32>(kSstatusSie));
  w_.alu_imm(kAnd, true, rdx, ~static_cast<i32>(kSstatusSie | kSstatusSpp));
  w_.alu(kOr, true, rdx, rax);
  w_.alu_imm(kOr, true, rdx, static_cast<i32>(kSstatusSpie));
  w_.store(kStatus, rdx);
  w_.rm(0x88, false, rcx, kMode);  // mov byte, reg
  enter_context(rcx);
  w_.shift_imm(kShl, false, rcx, 3);
  w_.load(kJumps, {rdx, static_cast<i32>(offsetof(NativeFrame, jump_caches)), rcx});
  w_.load(rax, field_of(kCsrSepc));
  w_.jmp(arena_.far());
  done_ = true;
}

/// A system call: `enter_supervisor` of trap.cc for a user's ecall.
void Translator::call_environment() {
  require_mode(kUser);
  w_.lea(rax, {kVirtualPage, static_cast<i32>(offset_)});
  w_.store(field_of(kCsrSepc), rax);
  w_.mov_imm(rcx, static_cast<i32>(kEcallFromUser));
  w_.store(field_of(kCsrScause), rcx);
  w_.mov_imm(rcx, 0);
  w_.store(field_of(kCsrStval), rcx);
  w_.load(rdx, kStatus);
  w_.mov32(rcx, rdx);
  w_.alu_imm(kAnd, false, rcx, static_cast<i32>(kSstatusSie));
  w_.shift_imm(kShl, false, rcx, 4);
  w_.alu_imm(kAnd, true, rdx, ~static_cast<i32>(kSstatusSie | kSstatusSpie | kSstatusSpp));
  w_.alu(kOr, true, rdx, rcx);
  w_.store(kStatus, rdx);
  w_.mov_imm(rcx, kSupervisor);
  w_.rm(0x88, false, rcx, kMode);  // mov byte, reg
  enter_context(rcx);
  w_.load(kJumps, {rdx, static_cast<i32>(offsetof(NativeFrame, jump_caches) + sizeof(JumpCache*))});
  w_.load(rax, {kState, field(offsetof(HartState, stvec))});
  w_.alu_imm(kAnd, true, rax, ~3);
  w_.jmp(arena_.far());
  done_ = true;
}

/// The last operation of its block: what remains after it is what remains now.
void Translator::read_time() {
  require_mode(kSupervisor);
  if (op_.a != 0) {
    w_.load(rcx, kFrame);
    w_.load(rdx, {rcx, static_cast<i32>(offsetof(NativeFrame, clock))});
    w_.alu(kSub, true, rdx, kRemaining);
    w_.alu_imm(kSub, true, rdx, 1);
    const Reg d = define(op_.a);
    w_.mov(d, rdx);
    defined(op_.a, d);
  }
  done_ = true;
  go_to(block_.offset + block_.bytes, 0);
}

bool Translator::status() {
  const u32 number = static_cast<u32>(op_.imm) & 0xfff;
  switch (op_.code) {
    case OpCode::MaskIrq: {
      require_mode(kSupervisor);
      if (op_.a != 0) {
        const Reg d = define(op_.a);
        read_status(d);
        defined(op_.a, d);
      }
      w_.rm(0x83, true, static_cast<Reg>(4), kStatus);  // and qword, imm8
      w_.byte(static_cast<u8>(~kSstatusSie));
      return true;
    }
    case OpCode::SetStatus:
    case OpCode::ClearStatus:
    case OpCode::WriteStatus:
      change_status();
      return true;
    case OpCode::Sret:
      return_from_trap();
      return true;
    case OpCode::Ecall:
      call_environment();
      return true;
    case OpCode::Csr:
      if (number != kCsrTime || op_.imm >> 12 != 2 || op_.b != 0) return false;
      read_time();
      return true;
    case OpCode::SfenceVma:
      // Translations are never stale; see core.h.
      require_mode(kSupervisor);
      done_ = true;
      go_to(block_.offset + block_.bytes, 0);
      return true;
    case OpCode::CsrField: {
      require_mode(kSupervisor);
      const bool swaps = op_.imm >> 12 == 1;
      if (swaps) w_.mov(rdx, use(op_.b));
      if (op_.a != 0) {
        const Reg d = define(op_.a);
        w_.load(d, field_of(number));
        defined(op_.a, d);
      }
      if (!swaps) return true;
      if (number == kCsrSepc) w_.alu_imm(kAnd, true, rdx, ~1);
      w_.store(field_of(number), rdx);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace shinken
