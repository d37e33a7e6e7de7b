#pragma once
// Random fragments of a system program: user instructions, and in between whatever an exception, an
// interrupt, a page table or a changed instruction can be made of.
#include "test/differential/random.h"
#include "test/differential/system_layout.h"
#include "test/support/assembler.h"

namespace shinken::test::system {

/// Bits of page-table entries.
inline constexpr u64 kValid = 1, kRead = 2, kWrite = 4, kExecute = 8, kUser = 16, kGlobal = 32;
inline constexpr u64 kAccessed = 64, kDirty = 128, kWorn = kAccessed | kDirty;
inline u64 entry(u64 pa, u64 bits) {
  return pa >> kPageShift << 10 | bits;
}

class FragmentMaker {
 public:
  /// `cut` is where an instruction begins whose second half cannot be fetched, `nowhere` shows memory that is
  /// not there.
  FragmentMaker(Random& random, u64 cut, u64 nowhere)
      : random_(random), sequence_(random), cut_(cut), nowhere_(nowhere) {}

  /// Appends the code of one fragment, which `code` holds at virtual address `at`; its end is an ebreak.
  Fragment make(Code& code, u64 at_supervisor, u64 at_user, unsigned length) {
    fragment_ = {};
    user_ = random_.chance(50);
    in_user_ = user_;
    // Where an access beside its natural alignment cannot happen, A and D bits have one right answer, and
    // memory that is not there may be touched.
    aligned_ = random_.chance(35);
    at_ = (user_ ? at_user : at_supervisor) - 2 * code.size();
    fragment_.entry = at_ + 2 * code.size();
    registers();
    pages();
    for (unsigned n = 0; n < length; ++n) {
      if (random_.chance(70)) {
        sequence_.append(code, 1, aligned_);
      } else {
        special(code);
      }
    }
    if (random_.chance(15)) lost(code);
    fragment_.end = at_ + 2 * code.size();
    if (random_.chance(50)) {
      code.push_back(0x9002);  // c.ebreak
    } else {
      emit32(code, as::kEbreak);
    }
    return fragment_;
  }

 private:
  u64 page_entry(u64 index, bool repaired) {
    const u64 mine = user_ ? kUser : 0;
    const u64 page = kData + (u64{random_.below(kDataPages)} << kPageShift);
    const u64 full = entry(page, kValid | kRead | kWrite | kWorn | mine);
    if (repaired) return full;
    switch (random_.below(16)) {
      case 0:
        return 0;
      case 1:
        return full & ~kWrite;
      case 2:
        return full & ~kAccessed;
      case 3:
        return full & ~kDirty;
      case 4:
        return full & ~kWorn;
      case 5:
        return (full & ~(kRead | kWrite)) | kExecute;
      case 6:
        return full & ~kRead;  // reserved
      case 7:
        return full ^ kUser;
      case 8:
        return full | u64{1} << (54 + random_.below(10));
      case 9:  // QEMU 7.2 says that an AMO there failed as a load
        return aligned_ && index != ((fragment_.x[9] - kWindow) >> kPageShift & 511)
                   ? entry(kNowhere, full & 0xff)
                   : full & ~kValid;
      case 10:
        return (full & ~(kRead | kWrite | kWorn | kUser)) | random_.below(32) << 5;  // a table below a leaf
      default:
        return full | (random_.chance(30) ? random_.below(8) << 7 : 0) | (random_.chance(30) ? kGlobal : 0);
    }
  }

  void pages() {
    for (u64 i = 0; i < kWindowPages; ++i) fragment_.pages[i] = page_entry(i, false);
    // Nobody finds code in the first page: fragments may get lost there.
    fragment_.pages[0] &= ~kExecute;
    const bool repairs = random_.chance(40);
    for (u64 i = 0; i < kWindowPages; ++i) {
      fragment_.repaired[i] = repairs && random_.chance(80) ? page_entry(i, true) : 0;
    }
    fragment_.super = super_entry();
    fragment_.entry_mask = aligned_ ? ~u64{0} : ~kWorn;
  }

  /// A superpage, one that is not aligned, or a second way to the window's own table, sometimes with bits
  /// that are reserved in a pointer.
  u64 super_entry() {
    const u64 mine = user_ != random_.chance(10) ? kUser : 0;
    if (random_.chance(30)) {
      static constexpr u64 kReserved[] = {kUser, kAccessed, kDirty};
      return entry(kDataLeaf, kValid | (random_.chance(50) ? kReserved[random_.below(3)] : 0));
    }
    const u64 big = random_.chance(70) ? kBig : kBig + (u64{1 + random_.below(511)} << kPageShift);
    return entry(big, kValid | kRead | (random_.chance(70) ? kWrite : 0) | kWorn | mine);
  }

  /// Near a border of pages as often as not.
  u64 somewhere(bool aligned) {
    const u64 border = kWindow + (u64{1 + random_.below(kWindowPages - 1)} << kPageShift);
    u64 va = border + random_.below(64) - 32;
    if (random_.chance(50)) va = kWindow + 0x800 + random_.below(kWindowPages * kPageSize - 0x1000);
    if (random_.chance(8)) va = kSuperWindow + random_.below(4 * kPageSize);
    if (random_.chance(2)) va = kWindow + kWindowPages * kPageSize - 16;
    if (random_.chance(2)) va = u64{1} << 38;
    if (random_.chance(1)) va = random_.next();
    return aligned ? va & ~u64{7} : va;
  }

  void registers() {
    for (u64& value : fragment_.x) value = interesting_integer(random_);
    for (u64& value : fragment_.f) value = interesting_float(random_);
    fragment_.x[2] = somewhere(aligned_);
    fragment_.x[3] = 0;  // the pool, set when its place is known
    fragment_.x[8] = somewhere(aligned_);
    fragment_.x[9] = somewhere(aligned_ || random_.chance(90));
    fragment_.fcsr = random_.below(32) | random_.below(random_.chance(90) ? 5 : 8) << 5;
    fragment_.sstatus = (user_ ? 0 : kSstatusSpp) | (random_.chance(50) ? kSstatusSpie : 0) |
                        (random_.chance(92) ? kSstatusFs : 0) | (random_.chance(40) ? kSstatusSum : 0) |
                        (random_.chance(40) ? kSstatusMxr : 0);
    // One kind at a time: without AIA, QEMU 7.2 takes the lowest number first, not the external interrupt.
    static constexpr u64 kKinds[] = {0, kInterruptSoftware, kInterruptTimer, kInterruptExternal};
    fragment_.sie = kKinds[random_.below(4)];
    fragment_.sip = random_.chance(15) ? kInterruptSoftware : 0;
    fragment_.pending = (random_.chance(10) ? kTimerPending : 0) | (random_.chance(10) ? kSerialPending : 0);
    pooled_ = 0;
  }

  /// Loads a constant from the pool, which only the supervisor can read.
  void load(Code& code, u32 rd, u64 value) {
    const u32 slot = pooled_ < 24 ? pooled_++ : 23;
    fragment_.pool[slot] = value;
    emit32(code, as::ld(rd, 3, static_cast<i32>(8 * slot)));
  }

  u32 register_for(u32 value) { return value == 2 || value == 3 || value == 8 || value == 9 ? 10 : value; }
  u32 rd() { return register_for(random_.below(32)); }

  void special(Code& code) {
    switch (random_.below(in_user_ ? 4 : 11)) {
      case 0:
        emit32(code, random_.chance(50) ? as::kEbreak : in_user_ ? as::kEcall : as::kFenceI);
        break;
      case 1:
        illegal(code);
        break;
      case 2:
        patch(code, true);
        break;
      case 3:
        patch(code, false);
        break;
      case 4:
      case 5:
        if (pooled_ + 2 <= 24) change_page(code);
        break;
      case 6:
        permissions(code);
        break;
      case 9:
        if (pooled_ < 20) change_mode(code);
        break;
      case 7:
        raise_interrupt(code);
        break;
      case 8: {
        static constexpr u32 readable[] = {kCsrSip, kCsrSie, kCsrScause, kCsrSepc, kCsrStvec, kCsrSatp};
        emit32(code, as::csrrs(rd(), readable[random_.below(6)], 0));
        break;
      }
      default:
        emit32(code, random_.chance(50) ? as::kSfenceVma
                                        : encode::r(0x73, 0, 0, random_.below(32), random_.below(32), 9));
        break;
    }
  }

  /// What neither board has: reserved encodings, the supervisor's instructions in user mode.
  void illegal(Code& code) {
    const u32 any = static_cast<u32>(random_.next());
    switch (random_.below(9)) {
      case 0: {  // an opcode for others' extensions, or one for numbers of other sizes
        static constexpr u32 opcodes[] = {0x0b, 0x2b, 0x5b, 0x7b, 0x57, 0x6b, 0x77, 0x1f, 0x3f, 0x5f};
        emit32(code, (any & ~u32{0x7f}) | opcodes[random_.below(10)]);
        break;
      }
      case 1: {  // integer operations that do not exist
        u32 f7 = 2 + random_.below(126);
        if (f7 == 0x20) f7 = 0x22;
        emit32(code, encode::r(random_.chance(50) ? 0x33 : 0x3b, rd(), random_.below(8), any >> 5 & 31,
                               any >> 10 & 31, f7));
        break;
      }
      case 2:  // rounding modes that do not exist, sizes that do not
        emit32(code, encode::r(0x53, any & 31, 5 + random_.below(2), any >> 5 & 31, any >> 10 & 31,
                               random_.below(4) << 2 | random_.below(2)));
        break;
      case 3:
        emit32(code, encode::r(0x53, any & 31, random_.below(8), any >> 5 & 31, any >> 10 & 31,
                               random_.below(32) << 2 | 3));
        break;
      case 4:  // atomics of other sizes or operations
        if (random_.chance(50)) {
          emit32(code, encode::r(0x2f, rd(), 4 + random_.below(4), 9, 5, random_.below(4)));
        } else {
          emit32(code, encode::r(0x2f, rd(), 2 + random_.below(2), 9, 5, (0x05 + 2 * random_.below(2)) << 2));
        }
        break;
      case 5: {  // compressed: zero, jump to register 0, loads into register 0, reserved
        static constexpr u16 words[] = {0x0000, 0x8002, 0x4002, 0x6002, 0x2001, 0x6001, 0x8000, 0x9c41};
        code.push_back(words[random_.below(8)]);
        break;
      }
      case 6:
        if (in_user_) {
          static constexpr u32 words[] = {as::kSret, as::kWfi, as::kSfenceVma, 0x10002073, 0x18001073};
          emit32(code, words[random_.below(5)]);
          break;
        }
        emit32(code, as::csrrs(rd(), 0x300 + random_.below(8), 0));  // M-mode's
        break;
      case 7:
        emit32(code, 0x30200073);  // mret
        break;
      default:
        emit32(code, as::csrrs(rd(), 0x5c0 + random_.below(16), 0));  // nobody's
        break;
    }
  }

  /// Twice over one instruction, which a store changes in between, with fence.i or without.
  void patch(Code& code, bool fence) {
    static constexpr u32 kPlain[] = {as::kNop, 0, 0x00000001, 0xffffffff};
    u32 word = kPlain[random_.below(4)];
    if (random_.chance(70)) word = as::addi(rd(), random_.below(32), static_cast<i32>(random_.below(2048)));
    emit32(code, as::addi(7, 0, 0));
    const u64 slot = code.size();
    emit32(code, as::addi(10, 10, 1));
    const u64 leave = code.size();
    emit32(code, 0);
    const u64 origin = code.size();
    emit32(code, as::auipc(6, 0));
    emit32(code, as::lui(5, (word + 0x800) >> 12 & 0xfffff));
    emit32(code, as::addiw(5, 5, static_cast<i32>(word << 20) >> 20));
    emit32(code, as::sw(5, 6, 2 * (static_cast<i32>(slot) - static_cast<i32>(origin))));
    emit32(code, as::addi(7, 0, 1));
    if (fence) emit32(code, as::kFenceI);
    emit32(code, as::jal(0, 2 * (static_cast<i32>(slot) - static_cast<i32>(code.size()))));
    const u32 out = as::bne(7, 0, 2 * (static_cast<i32>(code.size()) - static_cast<i32>(leave)));
    code[leave] = static_cast<u16>(out);
    code[leave + 1] = static_cast<u16>(out >> 16);
  }

  void change_page(Code& code) {
    const u32 index = 1 + random_.below(kWindowPages - 1);
    load(code, 5, page_entry(index, random_.chance(30)));
    load(code, 6, kDataLeaf);
    emit32(code, as::sd(5, 6, static_cast<i32>(8 * index)));
    emit32(code, as::kSfenceVma);
  }

  void permissions(Code& code) {
    const u64 bits = random_.chance(15) ? kSstatusFs : random_.next() & (kSstatusSum | kSstatusMxr);
    emit32(code, as::lui(5, static_cast<u32>(bits >> 12)));
    emit32(code, random_.chance(50) ? as::csrrs(0, kCsrSstatus, 5) : as::csrrc(0, kCsrSstatus, 5));
  }

  void raise_interrupt(Code& code) {
    switch (random_.below(4)) {
      case 0:
        emit32(code, encode::i(0x73, 0, 6 + random_.below(2), 2, kCsrSip));
        break;
      case 1:
        emit32(code, encode::i(0x73, 0, 6 + random_.below(2), 2, kCsrSstatus));  // SIE
        break;
      case 2:  // a timer that has passed
        emit32(code, as::addi(17, 0, 0));
        emit32(code, as::addi(10, 0, 0));
        emit32(code, as::kEcall);
        break;
      default:  // the serial port has nothing to send
        emit32(code, as::lui(6, 0x10000));
        emit32(code, as::addi(5, 0, 2));
        emit32(code, as::sb(5, 6, 1));
        break;
    }
  }

  /// To the next instruction by sret: in S-mode, or under its other address in U-mode.
  void change_mode(Code& code) {
    const bool to_user = random_.chance(50);
    emit32(code, encode::i(0x73, 0, 7, 2, kCsrSstatus));  // an interrupt would change sepc
    constexpr u64 kInstructions = 5;                      // from the load on
    const u64 next = at_ + 2 * code.size() + 4 * kInstructions;
    load(code, 5, to_user ? next - kSupervisorCode + kUserCode : next);
    emit32(code, as::csrrw(0, kCsrSepc, 5));
    emit32(code, as::addi(5, 0, kSstatusSpp));
    emit32(code, to_user ? as::csrrc(0, kCsrSstatus, 5) : as::csrrs(0, kCsrSstatus, 5));
    emit32(code, as::kSret);
    in_user_ = to_user;
  }

  /// A jump to where there is no code.
  void lost(Code& code) {
    if (in_user_) {  // the pool cannot be read there
      emit32(code, as::lui(6, static_cast<u32>((random_.chance(50) ? kWindow : kSupervisorCode) >> 12)));
    } else {
      static constexpr u64 kNotMapped = kWindow + (kWindowPages << kPageShift), kBeyond = u64{1} << 38;
      const u64 targets[] = {kWindow, kNotMapped, kBeyond, kUserCode, cut_, nowhere_};
      load(code, 6, targets[random_.below(6)]);
    }
    emit32(code, as::jalr(1, 6, 0));
  }

  Random& random_;
  SequenceMaker sequence_;
  u64 cut_, nowhere_;
  Fragment fragment_{};
  u64 at_ = 0;
  u32 pooled_ = 0;
  bool user_ = false;     // whose pages and code the fragment has
  bool in_user_ = false;  // where it stands
  bool aligned_ = false;
};

}  // namespace shinken::test::system
