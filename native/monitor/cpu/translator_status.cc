// What the kernel does with its status registers at every entry and around every lock.
#include <cstddef>

#include "monitor/cpu/csr_numbers.h"
#include "monitor/cpu/hart.h"
#include "monitor/cpu/translator.h"

namespace shinken {

using namespace x86;
using namespace native;

namespace {

constexpr i32 field(std::size_t at) {
  return static_cast<i32>(at) - kStateBias;
}
constexpr Mem kStatus = {kState, field(offsetof(HartState, sstatus))};

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
void Translator::require_supervisor() {
  w_.rm(0x80, false, static_cast<Reg>(7), {kState, field(offsetof(HartState, mode))});  // cmp byte, imm8
  w_.byte(1);
  leave_if(kNotEqual);
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

bool Translator::status() {
  const u32 number = static_cast<u32>(op_.imm) & 0xfff;
  switch (op_.code) {
    case OpCode::MaskIrq: {
      require_supervisor();
      if (op_.a != 0) {
        const Reg d = define(op_.a);
        read_status(d);
        defined(op_.a, d);
      }
      w_.rm(0x83, true, static_cast<Reg>(4), kStatus);  // and qword, imm8
      w_.byte(static_cast<u8>(~kSstatusSie));
      return true;
    }
    case OpCode::SetStatus: {
      require_supervisor();
      const Reg bits = use(op_.b);
      w_.mov(rcx, bits);
      w_.alu_imm(kAnd, true, rcx, ~static_cast<i32>(kSstatusSie));
      leave_if(kNotEqual);
      w_.load(rcx, {rsp, 0});  // the frame
      w_.rm(0x83, true, static_cast<Reg>(7),
            {rcx, static_cast<i32>(offsetof(NativeFrame, quiet))});  // cmp qword, imm8
      w_.byte(0);
      leave_if(kEqual);
      w_.mov(rdx, bits);
      if (op_.a != 0) {
        const Reg d = define(op_.a);
        read_status(d);
        defined(op_.a, d);
      }
      w_.rm(0x09, true, rdx, kStatus);  // or qword, reg
      return true;
    }
    case OpCode::CsrField: {
      require_supervisor();
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
