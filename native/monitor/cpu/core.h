#pragma once
// The hart's inside: state, caches and the execution loop. `Hart` is its public face.
//
// Policies that the architecture leaves open:
// - A and D bits: the walker sets them itself (A on any use, D on a store); with one hart that is atomic.
// - LR/SC: the reservation is the physical address of the LR, whatever its size. SC translates first (and
// faults if it
//   must), then succeeds if its physical address is the reserved one; any SC ends the reservation. Traps,
//   SRET and plain stores leave it alone; a device access and an SBI call end it.
// - An instruction that traps counts one tick like one that retires, so that a guest which only traps still
// moves.
// - Translations never outlive the page tables that they came from (see `store_to_table`), so SFENCE.VMA has
// nothing
//   left to do; neither has FENCE.I, since a store to decoded code drops it at once.
#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "monitor/cpu/code_arena.h"
#include "monitor/cpu/code_bytes.h"
#include "monitor/cpu/code_page.h"
#include "monitor/cpu/csr_numbers.h"
#include "monitor/cpu/hart.h"
#include "monitor/cpu/tlb.h"

namespace shinken {

enum class Access : u8 { kRead, kWrite, kFetch };

class Core {
 public:
  Core(GuestMemory* memory, Bus* bus, std::shared_ptr<const SharedBlocks> shared);

  HartExit run(u64 instret_limit);
  void request_exit() { exit_requested_.store(true, std::memory_order_release); }
  void drop_translations();
  void drop_write_translations() { writes_void_ = true; }
  void drop_code();
  void page_written(u64 page, bool moved);
  std::shared_ptr<const SharedBlocks> share_blocks();
  /// Host bytes of what this hart decoded and translated for itself.
  u64 code_bytes() const { return private_code_.value() + arena_code_.value(); }
  void set_translation(Translation translation) { translation_ = translation; }

  HartState s{};

 private:
  /// Where execution stands, noted before anything that may need the exact pc and count.
  struct Where {
    const BlockHeader* block;
    const Op* op;
    u64 block_pc;
    u64 remaining;
    const CodePage* page;
  };
  /// A watched page written between two runs, and the code that it held.
  struct Outside {
    u64 page;
    const CodePage* own;
    const CodePage* shared;
    bool moved;
  };
  struct Attached {
    std::shared_ptr<const CodePage> shared;
    std::unique_ptr<CodePage> own;
    const CodePage* code() const { return own ? own.get() : shared.get(); }
  };

  // execute.cc
  HartExit loop(u64 limit);

  // where.cc
  void claim_tlb();  // makes the thread's TLB this hart's
  void release_tlb();
  /// Physical address of the root page table; 0 without translation.
  u64 root() const { return s.satp == 0 ? 0 : (s.satp & kSatpPpn) << kPageShift; }
  bool in_ram(u64 page) const { return memory_->contains(page, kPageSize); }
  u64 next_stop(u64 limit, u64 slice) const;
  void sync();  // makes s.pc, s.instret and length_ those of the current instruction; once per instruction
  u32 current_raw() const;
  void break_block() { sync(), break_block_ = true; }

  // trap.cc
  void raise(u64 cause, u64 tval);  // after sync()
  void take_interrupt_if_due();
  u64 pending_interrupts() const {
    u64 pending = s.sip_soft & kInterruptSoftware;
    if (s.external) pending |= kInterruptExternal;
    if (time() >= s.stimecmp) pending |= kInterruptTimer;
    return pending;
  }
  bool interrupt_is_due() const {
    return (s.mode == 0 || (s.sstatus & kSstatusSie) != 0) && (pending_interrupts() & s.sie) != 0;
  }
  /// No interrupt would be taken before the next stop, even if SIE were set; a device or a write to sip may
  /// change it.
  bool nothing_is_due() const { return (pending_interrupts() & s.sie) == 0; }
  void return_from_trap();
  bool wait_is_over() const { return (pending_interrupts() & s.sie) != 0; }
  u64 time() const { return s.instret + s.skipped; }

  // csr.cc
  bool execute_csr(const Op& op);  // false: illegal instruction
  /// True if a write to the register may change where the loop has to stop.
  static bool moves_stop(const Op& op) {
    const u32 number = static_cast<u32>(op.imm) & 0xfff;
    return number == kCsrSie || number == kCsrStimecmp;
  }
  bool read_csr(u32 number, u64* value) const;
  bool write_csr(u32 number, u64 value);

  // mmu.cc
  bool translate(u64 va, Access access, bool update, u64* pa);  // false: fault_cause_ is set
  bool walk(u64 va, Access access, bool update, u64* pa);
  bool walk_quietly(u64 va, Access access, u64* pa);
  bool permitted(u64 pte, Access access) const;
  void switch_root(u64 satp);
  void note_table(u64 page, unsigned level, u64 va);
  void note_root(u64 root);
  void set_pte_bits(u64 page, u64 offset, u64 pte);
  void flush_tlb();
  TlbContext data_context() const {
    if (s.mode == 0) return TlbContext::kUser;
    return s.sstatus & kSstatusSum ? TlbContext::kSupervisorSum : TlbContext::kSupervisor;
  }

  // access.cc
  u64 refill(u64 va, bool write, DataTlb* data);
  bool load_slow(u64 va, unsigned size, u64* value);      // false: trapped
  bool store_slow(u64 va, unsigned size, u64 value);      // false: trapped
  u8* rmw_slow(u64 va, unsigned size);                    // null: trapped
  bool load_reserved(u64 va, unsigned size, u64* value);  // false: trapped
  bool store_conditional(u64 va, unsigned size, u64 value, u64* failed);
  bool load_misaligned(u64 va, unsigned size, u64* value);
  bool store_misaligned(u64 va, unsigned size, u64 value);
  void store_bytes(u64 va, u64 pa, const u8* bytes, unsigned count);
  bool mmio_load(u64 va, u64 pa, unsigned size, u64* value);
  bool mmio_store(u64 va, u64 pa, unsigned size, u64 value);
  const u8* ram_for_read(u64 va, u64 pa);
  u8* ram_for_write(u64 va, u64 pa);
  u8* store_to_table(PageTableSet::Entry entry, u64 page, u64 offset);
  bool fault(u64 va) { return sync(), raise(fault_cause_, va), false; }

  // code.cc
  const CodePage* fetch_page(u64 pc);  // null: trapped
  const CodePage* executing_page(u64 pc);
  const CodePage* decode_at(u64 pc);   // null: trapped; else the block is in the index
  bool fetch_cross(u64 pc, u32* raw);  // false: trapped
  Attached& attach(u64 page);
  void retire_page(Attached& attached);
  void forget_private_code();
  void catch_up_with_outside();

  // hot_code.cc
  void note_hot_page(const CodePage* page);
  void translate(CodePage& page);

  GuestMemory* memory_;
  Bus* bus_;
  std::shared_ptr<const SharedBlocks> shared_;
  std::unordered_map<u32, Attached> code_;            // by physical page
  std::vector<std::unique_ptr<CodePage>> graveyard_;  // dropped while perhaps still executing
  std::vector<std::shared_ptr<const CodePage>> shared_graveyard_;
  std::vector<Outside> outside_;
  CodeBytes private_code_;  // bytes in code_'s own pages
  CodeBytes arena_code_;    // bytes of arena_ that were touched
  Translation translation_ = Translation::kHot;
  bool arena_refused_ = false;
  u32 heat_ = 1;  // interpreted blocks until the next look at where time is spent
  u32 jitter_ = 1;
  std::shared_ptr<CodeArena> arena_;           // what code_'s own pages were translated to
  std::shared_ptr<const CodeArena> entrance_;  // any arena; null as long as nothing is translated

  Tlb* tlb_ = nullptr;  // of the running thread; null between runs
  DataTlb* data_ = nullptr;
  u64 stamp_ = 0;             // equals the TLB's stamp while its content is ours
  bool writes_void_ = false;  // of that content, the translations of stores mean nothing
  Where where_{};
  u64 stop_ = 0;         // instret at which `remaining` is 0
  unsigned length_ = 0;  // bytes of the current instruction, after sync()
  u32 cross_raw_ = 0;    // the instruction word that straddles two pages, while it executes
  u64 fault_cause_ = 0;
  bool synced_ = true;
  bool break_block_ = false;
  bool own_table_write_ = false;
  std::atomic<bool> exit_requested_{false};
  alignas(BlockHeader) Op scratch_[kMaxBlockSlots];
};

}  // namespace shinken
