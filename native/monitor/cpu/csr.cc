#include "monitor/cpu/core.h"

namespace shinken {

namespace {

constexpr u64 kFflagsMask = 0x1f;
constexpr u64 kFcsrMask = 0xff;
constexpr u64 kCounterenMask = 7;  // cycle, time, instret
constexpr u64 kSenvcfgMask = 1;    // FIOM

}  // namespace

bool Core::read_csr(u32 number, u64* value) const {
  switch (number) {
    case kCsrFflags:
    case kCsrFrm:
    case kCsrFcsr:
      if (!(s.sstatus & kSstatusFs)) return false;
      *value = number == kCsrFflags ? s.fcsr & kFflagsMask : number == kCsrFrm ? s.fcsr >> 5 & 7 : s.fcsr;
      return true;
    case kCsrSstatus:
      *value = s.sstatus | kSstatusUxl64 | ((s.sstatus & kSstatusFs) == kSstatusFs ? kSstatusSd : 0);
      return true;
    case kCsrSie:
      *value = s.sie;
      return true;
    case kCsrSip:
      *value = pending_interrupts();
      return true;
    case kCsrStvec:
      *value = s.stvec;
      return true;
    case kCsrScounteren:
      *value = s.scounteren;
      return true;
    case kCsrSenvcfg:
      *value = s.senvcfg;
      return true;
    case kCsrSscratch:
      *value = s.sscratch;
      return true;
    case kCsrSepc:
      *value = s.sepc;
      return true;
    case kCsrScause:
      *value = s.scause;
      return true;
    case kCsrStval:
      *value = s.stval;
      return true;
    case kCsrStimecmp:
      *value = s.stimecmp;
      return true;
    case kCsrSatp:
      *value = s.satp;
      return true;
    case kCsrCycle:
    case kCsrTime:
    case kCsrInstret:
      if (s.mode == 0 && !(s.scounteren >> (number - kCsrCycle) & 1)) return false;
      *value = number == kCsrTime ? time() : s.instret;
      return true;
    default:
      return false;
  }
}

bool Core::write_csr(u32 number, u64 value) {
  switch (number) {
    case kCsrFflags:
      s.fcsr = (s.fcsr & ~kFflagsMask) | (value & kFflagsMask);
      break;
    case kCsrFrm:
      s.fcsr = (s.fcsr & kFflagsMask) | (value & 7) << 5;
      break;
    case kCsrFcsr:
      s.fcsr = value & kFcsrMask;
      break;
    case kCsrSstatus:
      // MXR is part of what a read translation was made with.
      if ((s.sstatus ^ value) & kSstatusMxr) flush_tlb();
      s.sstatus = (s.sstatus & ~kSstatusWritable) | (value & kSstatusWritable);
      return true;
    case kCsrSie:
      s.sie = value & kInterruptMask;
      return true;
    case kCsrSip:
      s.sip_soft = value & kInterruptSoftware;
      return true;
    case kCsrStvec:
      s.stvec = value & ~u64{2};
      return true;
    case kCsrScounteren:
      s.scounteren = value & kCounterenMask;
      return true;
    case kCsrSenvcfg:
      s.senvcfg = value & kSenvcfgMask;
      return true;
    case kCsrSscratch:
      s.sscratch = value;
      return true;
    case kCsrSepc:
      s.sepc = value & ~u64{1};
      return true;
    case kCsrScause:
      s.scause = value;
      return true;
    case kCsrStval:
      s.stval = value;
      return true;
    case kCsrStimecmp:
      s.stimecmp = value;
      bus_->on_timer_changed();
      return true;
    case kCsrSatp: {
      const u64 mode = value >> 60;
      if (mode != 0 && mode != 8) return true;  // an unsupported mode leaves satp as it was
      const u64 next = mode == 0 ? 0 : kSatpModeSv39 | (value & kSatpPpn);  // no address space numbers
      if (next != s.satp) switch_root(next);
      s.satp = next;
      return true;
    }
    default:
      return false;
  }
  s.sstatus |= kSstatusFs;  // a floating-point register changed
  return true;
}

bool Core::execute_csr(const Op& op) {
  const u32 number = static_cast<u32>(op.imm) & 0xfff;
  const u32 function = static_cast<u32>(op.imm) >> 12;
  if ((number >> 8 & 3) > s.mode) return false;
  const bool immediate = (function & 4) != 0;
  const u32 kind = function & 3;  // 1 write, 2 set, 3 clear
  const bool writes = kind == 1 || op.b != 0;
  if (writes && number >> 10 == 3) return false;
  u64 old = 0;
  if (!read_csr(number, &old)) return false;
  const u64 operand = immediate ? op.b : s.x[op.b];
  if (writes) {
    // SSIP is the only bit of sip that software sets or clears; the others are levels.
    const u64 before = number == kCsrSip ? s.sip_soft : old;
    const u64 value = kind == 1 ? operand : kind == 2 ? before | operand : before & ~operand;
    if (!write_csr(number, value)) return false;
  }
  if (op.a != 0) s.x[op.a] = old;
  return true;
}

}  // namespace shinken
