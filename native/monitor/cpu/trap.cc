#include "monitor/cpu/core.h"

namespace shinken {

namespace {

void enter_supervisor(HartState& s, u64 cause, u64 tval) {
  s.scause = cause;
  s.sepc = s.pc;
  s.stval = tval;
  s.sstatus &= ~(kSstatusSpie | kSstatusSpp);
  if (s.sstatus & kSstatusSie) s.sstatus |= kSstatusSpie;
  if (s.mode == 1) s.sstatus |= kSstatusSpp;
  s.sstatus &= ~kSstatusSie;
  s.mode = 1;
  const u64 base = s.stvec & ~u64{3};
  const bool vectored = (s.stvec & 1) != 0 && (cause & kCauseInterrupt) != 0;
  s.pc = vectored ? base + 4 * (cause & ~kCauseInterrupt) : base;
}

}  // namespace

void Core::raise(u64 cause, u64 tval) {
  enter_supervisor(s, cause, tval);
  ++s.instret;
}

void Core::take_interrupt_if_due() {
  if (!interrupt_is_due()) return;
  const u64 due = pending_interrupts() & s.sie;
  const u64 cause = due & kInterruptExternal ? 9 : due & kInterruptSoftware ? 1 : 5;
  enter_supervisor(s, kCauseInterrupt | cause, 0);
}

void Core::return_from_trap() {
  s.pc = s.sepc;
  s.mode = s.sstatus & kSstatusSpp ? 1 : 0;
  s.sstatus &= ~(kSstatusSie | kSstatusSpp);
  if (s.sstatus & kSstatusSpie) s.sstatus |= kSstatusSie;
  s.sstatus |= kSstatusSpie;
  ++s.instret;
}

}  // namespace shinken
