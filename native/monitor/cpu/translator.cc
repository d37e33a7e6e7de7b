#include "monitor/cpu/translator.h"

#include <cstddef>

#include "monitor/cpu/decode.h"
#include "monitor/cpu/hart.h"

namespace shinken {

using namespace x86;
using namespace native;

Translator::Translator(CodePage& page, const BlockHeader& block, u16 entry, CodeArena& arena)
    : page_(page),
      block_(block),
      entry_(entry),
      arena_(arena),
      w_(arena.writer()),
      ops_(operations_of(&block)),
      offset_(block.offset) {}

Mem Translator::state_of(unsigned guest) const {
  return {kState, static_cast<i32>(offsetof(HartState, x) + 8 * guest) - kStateBias};
}

const u8* Translator::native_at(i32 target) const {
  if (target < 0 || target >= static_cast<i32>(kPageSize)) return nullptr;
  if (target == block_.offset) return arena_.next();
  const u16 entry = page_.index[target >> 1];
  if (entry == 0) return nullptr;
  return reinterpret_cast<const BlockHeader*>(page_.at(entry))->native;
}

/// Ends the translation: the interpreter goes on with the current operation.
void Translator::leave_here() {
  leave_from(w_.jmp(static_cast<const u8*>(nullptr)));
  if (first_left_ == ~0u) first_left_ = index_;
  done_ = true;
}

/// Goes on at `target`, given relative to the page, after giving back what was not executed.
void Translator::go_to(i32 target, unsigned give_back) {
  if (give_back != 0) w_.alu_imm(kAdd, true, kRemaining, static_cast<i32>(give_back));
  const u8* native = native_at(target);
  if (native != nullptr && Writer::reaches(w_.at() + 1, native)) {
    w_.jmp(native);
  } else {
    exits_.push_back({w_.jmp(static_cast<const u8*>(nullptr)), target, 0});
  }
}

bool Translator::jump_operation() {
  const bool branch = is_branch(op_.code);
  if (!branch && !is_jump(op_.code)) return false;
  i32 target = block_.offset + distance_of(op_);
  if (link_of(op_) == kLinked)
    target = reinterpret_cast<const BlockHeader*>(page_.at(linked_entry(op_)))->offset;
  if (branch) {
    static constexpr Cond kConds[] = {kEqual, kNotEqual, kLess, kGreaterEqual, kBelow, kAboveEqual};
    const Reg a = use(op_.b);
    if (op_.a == 0) {
      w_.alu_imm(kCmp, true, a, 0);
    } else {
      w_.alu(kCmp, true, a, use(op_.a));
    }
    const Cond cond = kConds[static_cast<unsigned>(first_of(op_.code)) - static_cast<unsigned>(OpCode::Beq)];
    const unsigned retired = static_cast<u32>(op_.imm) >> kBranchCountShift & kBranchCountMask;
    exits_.push_back({w_.jcc(cond, nullptr), target, block_.count - retired});
    return true;
  }
  if (op_.code == OpCode::Jal) {
    const Reg link = define(op_.a);
    w_.lea(link, {kVirtualPage, static_cast<i32>(block_.offset) + block_.bytes});
    defined(op_.a, link);
  }
  done_ = true;
  if (link_of(op_) != kFar) {
    go_to(target, 0);
  } else {
    w_.lea(rax, {kVirtualPage, target});
    w_.jmp(arena_.far());
  }
  return true;
}

void Translator::operation() {
  const OpCode code = first_of(op_.code);
  if (jump_operation() || integer() || memory() || status()) return;
  if (code == OpCode::Jr || code == OpCode::Jalr) {
    w_.lea(rax, {use(op_.b), op_.imm});
    w_.alu_imm(kAnd, true, rax, ~1);
    if (code == OpCode::Jalr) {
      const Reg link = define(op_.a);
      w_.lea(link, {kVirtualPage, static_cast<i32>(block_.offset) + block_.bytes});
      defined(op_.a, link);
    }
    w_.jmp(arena_.far());
    done_ = true;
    return;
  }
  leave_here();
}

void Translator::exits() {
  // Not by reference: `go_to` may add to them.
  for (std::size_t i = 0; i < exits_.size(); ++i) {
    const Exit exit = exits_[i];
    if (exit.give_back == 0) {
      const u8* native = native_at(exit.target);
      if (native != nullptr && Writer::reaches(exit.place, native)) {
        w_.patch(exit.place, native);
        continue;
      }
    }
    w_.patch(exit.place, w_.at());
    if (exit.give_back != 0) {
      go_to(exit.target, exit.give_back);
    } else {
      if (exit.target >= 0 && exit.target < static_cast<i32>(kPageSize))
        waiting_.push_back({exit.place, static_cast<u16>(exit.target)});
      w_.lea(rax, {kVirtualPage, exit.target});
      w_.jmp(arena_.far());
    }
  }
}

bool Translator::translate() {
  // One unsigned subtraction tells whether the block fits, too.
  w_.alu_imm(kSub, true, kRemaining, block_.count);
  leave_if(kBelow);
  for (; !done_; ++index_) {
    op_ = ops_[index_];
    if (index_ != 0 && index_ < block_.count) {
      // Somebody else translated the rest already.
      const u8* native = native_at(static_cast<i32>(offset_));
      if (native != nullptr) {
        go_to(static_cast<i32>(offset_), block_.count - index_);
        break;
      }
    }
    operation();
    if (index_ < block_.count) offset_ += (page_.bytes[offset_] & 3) == 3 ? 4 : 2;
  }
  exits();
  return !w_.overflow();
}

}  // namespace shinken
