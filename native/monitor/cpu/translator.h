#pragma once
// One block's translation; see translate.h. A guest register that was read or written stays in a host
// register as long as there is room, and every write goes to the state as well: so the state is exact at any
// operation, and leaving costs nothing.
#include <vector>

#include "monitor/cpu/code_arena.h"
#include "monitor/cpu/code_page.h"
#include "monitor/cpu/native_registers.h"

namespace shinken {

/// A way out of a block to the interpreter. It is written after all blocks of the page, so that the host's
/// caches hold what executes.
struct RareExit {
  const u8* place;   // the jump that leads here
  u32 value;         // of the `NativeExit`
  const u8* refill;  // the routine that may yet find what the TLB missed, or null
  const u8* back;    // where it goes on then
  static constexpr unsigned kMaxBytes = 5 + 6 + 7 + 5;
};

class Translator {
 public:
  Translator(CodePage& page, const BlockHeader& block, u16 entry, CodeArena& arena);
  /// False if there was no room.
  bool translate();
  /// False if the translation only leaves.
  bool worthwhile() const { return first_left_ > 0; }
  const u8* end() const { return w_.at(); }
  const std::vector<WaitingJump>& waiting() const { return waiting_; }
  const std::vector<RareExit>& rare() const { return rare_; }

 private:
  using Reg = x86::Reg;
  /// What a host register of the pool holds: a guest register, or the host address that an access group
  /// starts from.
  struct Slot {
    i32 holds = -1;
    u32 used = 0;
  };
  /// Accesses near each other, through a register that does not change in between, that one look at the TLB
  /// serves.
  struct Group {
    unsigned base = 0;
    i32 anchor = 0;  // displacement whose host address the register holds
    i32 low = 0;     // displacements within which the page is known
    i32 high = 0;
    unsigned log2_size = 0;  // what the anchor's address is aligned to
    bool live = false;
  };
  static constexpr i32 kGroups = 32;  // `holds` of group 0 (reads); 33: writes, which may be read, too
  /// A jump to another block whose way is out of line: emitted after the block.
  struct Exit {
    const u8* place;  // the jump that leads here
    i32 target;       // distance from the page's start
    unsigned give_back;
  };

  // translator.cc
  void operation();
  bool jump_operation();
  void exits();
  void leave_here();
  void leave_if(x86::Cond cond) { leave_from(w_.jcc(cond, nullptr)); }
  void leave_from(const u8* place) { rare_.push_back({place, index_ << 16 | entry_, nullptr, nullptr}); }
  void go_to(i32 target, unsigned give_back);
  const u8* native_at(i32 target) const;
  x86::Mem state_of(unsigned guest) const;

  // translator_registers.cc
  Reg use(unsigned guest);
  Reg define(unsigned guest);
  void defined(unsigned guest, Reg reg);
  Reg claim(i32 holds);
  Reg holding(i32 what);

  // translator_integer.cc
  bool integer();
  void two_operands(u32 opcode, bool commutative);
  void result_of_word();
  void set_if(x86::Cond cond);
  void divide(bool is_signed, bool wide, bool remainder);
  void multiply_high(bool is_signed);
  void shift_register(x86::Shift shift, bool wide);

  // translator_status.cc
  bool status();
  void require_mode(u8 mode);
  void require_quiet();
  void read_status(Reg into);
  void change_status();
  void enter_context(Reg mode);
  void return_from_trap();
  void call_environment();
  void read_time();

  // translator_memory.cc
  bool memory();
  x86::Mem address(unsigned log2_size, bool write);
  bool find_span(unsigned log2_size, bool write, Group* group) const;
  void require_float();
  bool atomic();
  bool reserved();
  x86::Mem physical(unsigned log2_size, bool write);
  void forget_groups();

  CodePage& page_;
  const BlockHeader& block_;
  u16 entry_;
  CodeArena& arena_;
  x86::Writer w_;
  const Op* ops_;
  unsigned index_ = 0;  // of the current operation
  u32 offset_ = 0;      // of the current instruction in the page
  bool done_ = false;   // the block was left for good
  unsigned first_left_ = ~0u;
  Op op_{};
  Slot slots_[std::size(native::kPool)];
  Group groups_[2];
  std::vector<Exit> exits_;
  std::vector<RareExit> rare_;
  std::vector<WaitingJump> waiting_;
};

}  // namespace shinken
