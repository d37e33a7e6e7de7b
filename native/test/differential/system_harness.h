#pragma once
// The resident part of a system program: enters fragments, takes their traps, prints a digest for each.
#include <cstddef>

#include "test/differential/system_layout.h"
#include "test/support/label_assembler.h"

namespace shinken::test::system {

/// The harness's code, to lie at kBase; `code` is the physical address of the fragments' code.
class Harness {
 public:
  explicit Harness(u64 code) : a_(kBase), code_(code) {
    for (Label* label :
         {&next_, &handler_, &finish_, &mix_, &print_hex_, &put_, &set_timer_, &quiet_serial_}) {
      *label = a_.label();
    }
    start();
    enter_next();
    handle_trap();
    finish_fragment();
    helpers();
  }
  std::vector<u32> words() const { return a_.words(); }

 private:
  using Label = LabelAssembler::Label;
  // s0 state, s1 scause, s2 sepc, s3 sstatus, s4 stval, s5 the fragment.
  enum Register : u32 {
    zero,
    ra,
    sp,
    gp,
    tp,
    t0,
    t1,
    t2,
    s0,
    s1,
    a0,
    a1,
    a2,
    a3,
    a4,
    a5,
    a6,
    a7,
    s2,
    s3,
    s4,
    s5,
    s6,
    s7,
    t6 = 31
  };
  enum Condition : u32 { eq = 0, ne = 1, lt = 4, ge = 5, ltu = 6, geu = 7 };
  static constexpr u64 kUart = 0x10000000, kPlic = 0x0c000000, kSerialSource = 10;
  static constexpr u64 kMaxTraps = 100;
  static constexpr u64 kOpenSbi = 1;
  static constexpr u64 kFactor = 0x9e3779b1;

  static constexpr i32 of(std::size_t offset) { return static_cast<i32>(offset); }
  void csr_read(u32 rd, u32 csr) { a_.add(as::csrrs(rd, csr, zero)); }
  void csr_write(u32 csr, u32 rs) { a_.add(as::csrrw(zero, csr, rs)); }
  void move(u32 rd, u32 rs) { a_.add(as::addi(rd, rs, 0)); }
  void mix(u32 rs) { move(a0, rs), a_.call(mix_); }

  void start() {
    move(s1, a0);  // our hart: OpenSBI takes any of QEMU's
    a_.la(s0, kState);
    csr_write(kCsrSscratch, s0);
    csr_write(kCsrSie, zero);
    // stvec, once the handler's place is known: jal over an auipc would do, but a table of one jump is
    // plainer.
    const Label over = a_.label();
    a_.add(as::auipc(t0, 0));
    a_.add(as::addi(t0, t0, 16));
    csr_write(kCsrStvec, t0);
    a_.jump(over);
    a_.jump(handler_);
    a_.bind(over);

    // Which context of the interrupt controller is S-mode's depends on whether there is an M-mode.
    const Label alone = a_.label();
    a_.li(a7, 0x10), a_.li(a6, 1), a_.add(as::kEcall);
    a_.li(t0, kPlic + 0x2000), a_.li(t1, kPlic + 0x200000);
    a_.li(t2, kOpenSbi);
    a_.branch(ne, a1, t2, alone);
    a_.li(t0, kPlic + 0x2080), a_.li(t1, kPlic + 0x201000);
    a_.add({as::slli(t2, s1, 8), as::add(t0, t0, t2), as::slli(t2, s1, 13), as::add(t1, t1, t2)});
    a_.bind(alone);
    a_.li(t2, u64{1} << kSerialSource), a_.add(as::sw(t2, t0, 0));
    a_.add({as::sw(zero, t1, 0), as::addi(t1, t1, 4), as::sd(t1, s0, kClaim)});
    a_.li(t0, kPlic + 4 * kSerialSource), a_.li(t1, 1), a_.add(as::sw(t1, t0, 0));

    a_.la(t0, kRoot);
    a_.add(encode::i(0x13, t0, 5, t0, 12));
    a_.li(t1, 8), a_.add({as::slli(t1, t1, 60), encode::r(0x33, t0, 6, t0, t1, 0), as::kSfenceVma});
    csr_write(kCsrSatp, t0);
    a_.add(as::kSfenceVma);
    for (const char letter : {'\n', 'G', 'O', '\n'}) a_.li(a0, static_cast<u64>(letter)), a_.call(put_);
  }

  void enter_next() {
    a_.bind(next_);
    const Label more = a_.label(), no_timer = a_.label(), no_serial = a_.label();
    a_.add({as::ld(t0, s0, kNumber), as::ld(t1, s0, kCount)});
    a_.branch(ltu, t0, t1, more);
    const Label cause = a_.label();
    a_.add(as::addi(s6, s0, kTaken)), a_.li(s7, kCauses);
    a_.bind(cause);
    a_.add(as::ld(a0, s6, 0)), a_.call(print_hex_);
    a_.add({as::addi(s6, s6, 8), as::addi(s7, s7, -1)});
    a_.branch(ne, s7, zero, cause);
    a_.li(a7, 0x53525354), a_.li(a6, 0), a_.li(a0, 0), a_.li(a1, 0), a_.add(as::kEcall);
    a_.jump(a_.here());

    a_.bind(more);
    a_.la(s5, kTable);
    a_.add({as::slli(t1, t0, kFragmentShift), as::add(s5, s5, t1), as::sd(s5, s0, kFragment)});
    a_.add({as::sd(t0, s0, kHash), as::sd(zero, s0, kTraps)});
    a_.la(t0, kDataLeaf);
    for (i32 i = 0; i < of(kWindowPages); ++i) {
      a_.add({as::ld(t1, s5, of(offsetof(Fragment, pages)) + 8 * i), as::sd(t1, t0, 8 * i)});
    }
    a_.la(t0, kMiddle + 8 * (kSuperWindow >> 21 & 511));
    a_.add({as::ld(t1, s5, of(offsetof(Fragment, super))), as::sd(t1, t0, 0), as::kSfenceVma});

    a_.add({as::ld(s6, s5, of(offsetof(Fragment, pending))), encode::i(0x13, t0, 7, s6, kTimerPending)});
    a_.branch(eq, t0, zero, no_timer);
    a_.li(a0, 0), a_.call(set_timer_);
    a_.bind(no_timer);
    a_.add(encode::i(0x13, t0, 7, s6, kSerialPending));
    a_.branch(eq, t0, zero, no_serial);
    a_.li(t0, kUart), a_.li(t1, 2), a_.add(as::sb(t1, t0, 1));
    a_.bind(no_serial);

    a_.li(t0, kSstatusFs), a_.add(as::csrrs(zero, kCsrSstatus, t0));
    for (u32 f = 0; f < 32; ++f) {
      a_.add(encode::i(0x07, f, 3, s5, of(offsetof(Fragment, f)) + 8 * static_cast<i32>(f)));
    }
    const std::pair<u32, std::size_t> registers[] = {{kCsrFcsr, offsetof(Fragment, fcsr)},
                                                     {kCsrSepc, offsetof(Fragment, entry)},
                                                     {kCsrSstatus, offsetof(Fragment, sstatus)},
                                                     {kCsrSip, offsetof(Fragment, sip)},
                                                     {kCsrSie, offsetof(Fragment, sie)}};
    for (const auto& [csr, at] : registers) a_.add(as::ld(t0, s5, of(at))), csr_write(csr, t0);
    move(t6, s5);
    for (u32 x = 1; x < 32; ++x) a_.add(as::ld(x, t6, 8 * static_cast<i32>(x)));
    a_.add(as::kSret);
  }

  void handle_trap() {
    const Label quiet = a_.label(), interrupt = a_.label(), skip = a_.label(), resume = a_.label();
    const Label known_value = a_.label(), in_user = a_.label(), restartable = a_.label();
    a_.bind(handler_);
    a_.add(as::csrrw(t6, kCsrSscratch, t6));
    for (u32 x = 1; x < 31; ++x) a_.add(as::sd(x, t6, 8 * static_cast<i32>(x)));
    move(s0, t6);
    a_.add({as::csrrw(t0, kCsrSscratch, t6), as::sd(t0, s0, 8 * 31)});
    // What becomes of a reservation in a trap is free; so it ends here.
    a_.add({as::addi(t0, s0, kScratch), as::sc_d(zero, zero, t0)});
    csr_read(s1, kCsrScause), csr_read(s2, kCsrSepc), csr_read(s3, kCsrSstatus), csr_read(s4, kCsrStval);
    a_.add({as::ld(s5, s0, kFragment), as::ld(t0, s5, of(offsetof(Fragment, end)))});
    a_.li(t1, kBreakpoint);
    a_.branch(ne, s1, t1, known_value);
    // Under either of its addresses.
    a_.li(t1, ~(kUserCode ^ kSupervisorCode));
    a_.add({encode::r(0x33, t0, 7, t0, t1, 0), encode::r(0x33, t1, 7, s2, t1, 0)});
    a_.branch(eq, t1, t0, finish_);
    move(s4, zero);  // the address or 0, as the implementation likes
    a_.bind(known_value);
    a_.add({encode::i(0x13, t0, 7, s1, 15), encode::i(0x13, t1, 5, s1, 63), as::slli(t1, t1, 4),
            as::add(t0, t0, t1), as::slli(t0, t0, 3), as::add(t0, t0, s0), as::ld(t1, t0, kTaken),
            as::addi(t1, t1, 1), as::sd(t1, t0, kTaken)});
    // FS is on or off; when it becomes dirty is free.
    a_.li(t0, kSstatusSpp | kSstatusSpie | kSstatusSie | kSstatusSum | kSstatusMxr);
    a_.li(t1, kSstatusFs);
    a_.add({encode::r(0x33, t0, 7, s3, t0, 0), encode::r(0x33, t1, 7, s3, t1, 0),
            encode::r(0x33, t1, 3, zero, t1, 0), encode::r(0x33, s3, 6, t0, t1, 0)});
    for (const u32 value : {s1, s2, s3, s4}) mix(value);
    a_.add({as::ld(t0, s0, kNumber), as::ld(t1, s0, kVerbose)});
    a_.branch(ne, t0, t1, quiet);
    for (const u32 value : {s1, s2, s3, s4}) move(a0, value), a_.call(print_hex_);
    a_.bind(quiet);
    a_.branch(lt, s1, zero, interrupt);
    a_.add({as::ld(t0, s0, kTraps), as::addi(t0, t0, 1), as::sd(t0, s0, kTraps)});
    a_.li(t1, kMaxTraps);
    a_.branch(ltu, t1, t0, finish_);
    for (const u64 cause : {kFetchPageFault, kFetchAccess}) {
      a_.li(t1, cause);
      a_.branch(eq, s1, t1, finish_);
    }

    // a1: the instruction, read where the harness sees it; a2: its length.
    a_.li(t0, kUserCode);
    a_.la(t1, code_);
    a_.branch(geu, s2, t0, in_user);
    a_.li(t0, kSupervisorCode);
    a_.bind(in_user);
    a_.add({encode::r(0x33, t0, 0, s2, t0, 0x20), as::add(t0, t0, t1), encode::i(0x03, a1, 5, t0, 0)});
    a_.li(a2, 2), a_.li(t1, 3);
    a_.add(encode::i(0x13, t2, 7, a1, 3));
    a_.branch(ne, t2, t1, skip);
    a_.li(a2, 4);
    a_.add({encode::i(0x03, t1, 5, t0, 2), as::slli(t1, t1, 16), encode::r(0x33, a1, 6, a1, t1, 0)});
    // A conditional store is never done again, and without its reserving load it is not done at all.
    a_.add(encode::i(0x13, t0, 7, a1, 0x7f));
    a_.li(t1, 0x2f);
    a_.branch(ne, t0, t1, restartable);
    a_.add(encode::i(0x13, t0, 5, a1, 27));
    a_.li(t1, 3);
    a_.branch(eq, t0, t1, skip);
    a_.li(t1, 2);
    a_.branch(ne, t0, t1, restartable);
    a_.li(a2, 8);
    a_.bind(restartable);
    repair(skip, resume);
    a_.bind(skip);
    a_.add(as::add(s2, s2, a2));
    csr_write(kCsrSepc, s2);
    a_.bind(resume);
    move(t6, s0);
    for (u32 x = 1; x < 32; ++x) a_.add(as::ld(x, t6, 8 * static_cast<i32>(x)));
    a_.add(as::kSret);

    a_.bind(interrupt);
    const Label external = a_.label(), timer = a_.label();
    a_.add(encode::i(0x13, t0, 7, s1, 15));
    a_.li(t1, 9);
    a_.branch(eq, t0, t1, external);
    a_.li(t1, 5);
    a_.branch(eq, t0, t1, timer);
    csr_write(kCsrSip, zero);
    a_.jump(resume);
    a_.bind(timer);
    a_.li(a0, ~u64{0}), a_.call(set_timer_);
    a_.jump(resume);
    a_.bind(external);
    a_.call(quiet_serial_);
    mix(s6);
    a_.jump(resume);
  }

  /// A page fault within the window: the entry becomes what the fragment says, once, and the instruction runs
  /// again.
  void repair(Label skip, Label resume) {
    const Label page_fault = a_.label();
    for (const u64 cause : {kLoadPageFault, kStorePageFault}) {
      a_.li(t1, cause);
      a_.branch(eq, s1, t1, page_fault);
    }
    a_.jump(skip);
    a_.bind(page_fault);
    a_.li(t0, kWindow);
    a_.add({encode::r(0x33, t0, 0, s4, t0, 0x20), encode::i(0x13, t0, 5, t0, kPageShift)});
    a_.li(t1, kWindowPages);
    a_.branch(geu, t0, t1, skip);
    a_.add({as::slli(t0, t0, 3), as::add(t1, s5, t0), as::ld(t1, t1, of(offsetof(Fragment, repaired)))});
    a_.branch(eq, t1, zero, skip);
    a_.la(t2, kDataLeaf);
    a_.add({as::add(t2, t2, t0), as::ld(a3, t2, 0)});
    // Accessed and dirty are in every repaired entry, so an equal one has been repaired.
    a_.branch(eq, a3, t1, skip);
    a_.add({as::sd(t1, t2, 0), as::kSfenceVma});
    a_.jump(resume);
  }

  void finish_fragment() {
    a_.bind(finish_);
    a_.li(t0, kSstatusFs), a_.add(as::csrrs(zero, kCsrSstatus, t0));
    for (u32 f = 0; f < 32; ++f) a_.add(encode::s(0x27, 3, s0, f, kSavedF + 8 * static_cast<i32>(f)));
    csr_read(t0, kCsrFcsr);
    a_.add(as::sd(t0, s0, kSavedFcsr));
    csr_write(kCsrSie, zero), csr_write(kCsrSip, zero);
    a_.li(a0, ~u64{0}), a_.call(set_timer_);
    a_.call(quiet_serial_);

    // The registers, the entries of the window, the data.
    mix_registers();
    for (i32 i = 0; i <= of(kWindowPages); ++i) {
      if (i == of(kWindowPages)) {
        a_.la(t0, kMiddle + 8 * (kSuperWindow >> 21 & 511));
      } else {
        a_.la(t0, kDataLeaf + 8 * static_cast<u64>(i));
      }
      a_.add({as::ld(a0, t0, 0), as::ld(t1, s5, of(offsetof(Fragment, entry_mask))),
              encode::r(0x33, a0, 7, a0, t1, 0)});
      a_.call(mix_);
    }
    mix_data();
    a_.add(as::ld(a0, s0, kHash));
    a_.call(print_hex_);
    a_.add({as::ld(t0, s0, kNumber), as::addi(t0, t0, 1), as::sd(t0, s0, kNumber)});
    a_.jump(next_);
  }

  void mix_registers() {
    const Label loop = a_.label(), quiet = a_.label();
    move(s6, s0);
    a_.li(s7, kSavedWords);
    a_.bind(loop);
    a_.add({as::ld(t0, s0, kNumber), as::ld(t1, s0, kVerbose)});
    a_.branch(ne, t0, t1, quiet);
    a_.add(as::ld(a0, s6, 0)), a_.call(print_hex_);
    a_.bind(quiet);
    a_.add(as::ld(a0, s6, 0)), a_.call(mix_);
    a_.add({as::addi(s6, s6, 8), as::addi(s7, s7, -1)});
    a_.branch(ne, s7, zero, loop);
  }

  /// Most of a fragment's time: as `mix_`, with the hash in a register.
  void mix_data() {
    const Label loop = a_.label();
    a_.la(s6, kData), a_.li(s7, kData + kDataPages * kPageSize), a_.li(t2, kFactor);
    a_.add(as::ld(t0, s0, kHash));
    a_.bind(loop);
    a_.add({as::ld(a0, s6, 0), encode::r(0x33, t0, 4, t0, a0, 0)});
    mix_t0();
    a_.add(as::addi(s6, s6, 8));
    a_.branch(ne, s6, s7, loop);
    a_.add(as::sd(t0, s0, kHash));
  }

  /// t0 = rotate(t0, 29) * t2 + 1
  void mix_t0() {
    a_.add({as::slli(t1, t0, 29), encode::i(0x13, t0, 5, t0, 35), encode::r(0x33, t0, 6, t0, t1, 0)});
    a_.add({encode::r(0x33, t0, 0, t0, t2, 1), as::addi(t0, t0, 1)});
  }

  void helpers() {
    // s6 = the source that the controller gave out, 0 if none.
    a_.bind(quiet_serial_);
    a_.add({as::ld(t0, s0, kClaim), as::lw(s6, t0, 0)});
    a_.li(t1, kUart), a_.add(as::sb(zero, t1, 1));
    const Label none = a_.label();
    a_.branch(eq, s6, zero, none);
    a_.add(as::sw(s6, t0, 0));
    a_.bind(none);
    a_.add(as::jalr(zero, ra, 0));

    // a0 into the hash.
    a_.bind(mix_);
    a_.add({as::ld(t0, s0, kHash), encode::r(0x33, t0, 4, t0, a0, 0)});
    a_.li(t2, kFactor);
    mix_t0();
    a_.add({as::sd(t0, s0, kHash), as::jalr(zero, ra, 0)});

    // a0 in sixteen digits, and a newline.
    a_.bind(print_hex_);
    const Label digit = a_.label(), small = a_.label();
    move(a3, a0), move(a4, ra), a_.li(a5, 60);
    a_.bind(digit);
    a_.add({encode::r(0x33, a0, 5, a3, a5, 0), encode::i(0x13, a0, 7, a0, 15), as::addi(a0, a0, '0')});
    a_.li(t0, '9' + 1);
    a_.branch(ltu, a0, t0, small);
    a_.add(as::addi(a0, a0, 'a' - '9' - 1));
    a_.bind(small);
    a_.call(put_);
    a_.add(as::addi(a5, a5, -4));
    a_.branch(ge, a5, zero, digit);
    a_.li(a0, '\n'), a_.call(put_);
    a_.add(as::jalr(zero, a4, 0));

    a_.bind(put_);
    a_.li(a7, 1), a_.add({as::kEcall, as::jalr(zero, ra, 0)});
    a_.bind(set_timer_);
    a_.li(a7, 0), a_.add({as::kEcall, as::jalr(zero, ra, 0)});
  }

  LabelAssembler a_;
  u64 code_;
  Label next_, handler_, finish_, mix_, print_hex_, put_, set_timer_, quiet_serial_;
};

}  // namespace shinken::test::system
