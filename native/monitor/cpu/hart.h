#pragma once
// The rv64 hart: RV64GC + Zicsr + Zifencei + Sstc with Sv39, S and U mode only (M-mode is the monitor).
#include <memory>

#include "monitor/base/types.h"
#include "monitor/cpu/bus.h"
#include "monitor/memory/guest_memory.h"

namespace shinken {

/// Everything that makes two harts behave alike; part of goldens and of the state digest. Plain data.
/// Time (the `time` CSR) is `instret + skipped`.
struct HartState {
  u64 x[32];
  u64 f[32];
  u64 pc;
  u64 instret;        // retired instructions since power-on
  u64 skipped;        // ticks skipped while idle
  u64 sstatus;        // SIE, SPIE, SPP, FS, SUM, MXR, UXL (+ SD computed)
  u64 sie, sip_soft;  // sip_soft: SSIP, written by software
  u64 external;       // SEIP level, driven by the PLIC
  u64 stvec, sscratch, sepc, scause, stval, satp, scounteren, senvcfg, stimecmp;
  u64 fcsr;
  u64 reservation;  // LR reservation: guest-physical address, or ~0
  u64 hart_id;
  u8 mode;     // 0 = U, 1 = S
  u8 waiting;  // 1: stopped in WFI
};

enum class HartExit : u8 {
  kLimit,      // instret reached the limit exactly
  kWaiting,    // WFI with no enabled interrupt pending; state.waiting is set
  kRequested,  // `request_exit()` was called (by a device through the bus, or from another thread)
};

/// When decoded blocks are translated to host code. It shows in nothing but speed.
enum class Translation : u8 {
  kNever,
  kHot,  // where time is spent, and what a golden shares
  kAll,  // every block as soon as it is decoded
};

class SharedBlocks;  // decoded pages owned by a golden: written before it is sealed, read-only after

class Hart final : public PageObserver {
 public:
  /// `shared` may be null. `memory` and `bus` must outlive the hart. Registers itself as memory's observer.
  /// The new state is S-mode, all registers 0, no timer armed (stimecmp all ones), no reservation.
  Hart(GuestMemory* memory, Bus* bus, std::shared_ptr<const SharedBlocks> shared);
  ~Hart() override;
  Hart(const Hart&) = delete;
  Hart& operator=(const Hart&) = delete;

  HartState& state();
  const HartState& state() const;
  /// Runs until `state().instret == instret_limit` (exact), WFI, or a requested exit. Interrupts that are
  /// pending and enabled at entry, or become so through a CSR write or a device access, are taken at the
  /// exact instruction; an interrupt is delivered before the next instruction, so at the limit it is not yet.
  /// The timer interrupt (stimecmp <= instret + skipped) is the hart's own affair and exact whatever the
  /// limit: the limit serves the machine's own deadlines. A machine that must compute another limit after a
  /// device access or `on_timer_changed` calls `request_exit()` from the bus callback; run then returns right
  /// after that instruction. One call of run counts at least one tick unless it returns at once: an
  /// instruction that traps is a tick, too. In WFI run returns kWaiting at once until an interrupt that `sie`
  /// enables is pending (raise `skipped` to reach stimecmp, or drive the external line).
  HartExit run(u64 instret_limit);
  /// Drives the external interrupt line (PLIC S-mode context). Callable between runs and from a bus callback.
  void set_external_interrupt(bool level);
  /// Makes `run` return kRequested: from a bus callback at the next instruction boundary, from another thread
  /// within 2^14 instructions, between runs at the next run's start. Thread-safe and idempotent.
  void request_exit();
  /// After `state()` was changed from outside (restore, fork): drops all translations and private blocks.
  void reset_caches();
  /// After pages changed their host address or became read-only without `on_page_write` (a freeze): drops all
  /// translations, keeps the blocks. Not from within run.
  void drop_translations();
  /// The same for translations of stores alone, after pages became read-only where they are. Not from within
  /// run.
  void drop_write_translations();
  /// Decoded pages of this hart and, of its own golden's, those that its memory still shares: frozen so that
  /// the golden's descendants can use them. Call it after the memory was frozen: what is the memory's own by
  /// then is left out. Drops all translations. Not from within run.
  std::shared_ptr<const SharedBlocks> share_blocks();

  /// Host bytes of the code that this hart decoded and translated for itself; `reset_caches` frees them. Not
  /// from within run.
  u64 code_bytes() const;

  /// For tests and comparisons; before the first run. The default is kHot; where the host is no x86-64 or
  /// forbids executable memory everything is interpreted.
  void set_translation(Translation translation);

  void on_page_write(u64 page, bool moved) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  GuestMemory* memory_;
};

}  // namespace shinken
