#pragma once
// Instruction words with labels and constants, for guests that are longer than a dozen lines.
#include <stdexcept>
#include <vector>

#include "test/support/assembler.h"

namespace shinken::test {

class LabelAssembler {
 public:
  using Label = std::size_t;

  /// The code will lie at `base`.
  explicit LabelAssembler(u64 base) : base_(base) {}

  Label label() { return targets_.push_back(kUnbound), targets_.size() - 1; }
  Label here() {
    const Label made = label();
    bind(made);
    return made;
  }
  void bind(Label label) { targets_.at(label) = words_.size(); }
  u64 address() const { return base_ + 4 * words_.size(); }

  void add(u32 word) { words_.push_back(word); }
  void add(std::initializer_list<u32> words) { words_.insert(words_.end(), words); }
  /// `funct3` of a conditional branch: 0 eq, 1 ne, 4 lt, 5 ge, 6 ltu, 7 geu.
  void branch(u32 funct3, u32 a, u32 b, Label to) { reach(to, funct3, a, b), add(0); }
  void jump(Label to, u32 link = 0) { reach(to, kJump, link, 0), add(0); }
  void call(Label to) { jump(to, 1); }

  /// A constant, in as many instructions as it takes.
  void li(u32 rd, u64 value) {
    const i64 low = static_cast<i64>(value << 52) >> 52;
    const u64 high = value - static_cast<u64>(low);
    if (static_cast<i64>(static_cast<i32>(value)) == static_cast<i64>(value)) {
      const u32 page = static_cast<u32>(high >> 12) & 0xfffff;
      if (page != 0) add(as::lui(rd, page));
      if (page == 0 || low != 0) {
        add(page == 0 ? as::addi(rd, 0, static_cast<i32>(low)) : as::addiw(rd, rd, static_cast<i32>(low)));
      }
      return;
    }
    li(rd, static_cast<u64>(static_cast<i64>(high) >> 12));
    add(as::slli(rd, rd, 12));
    if (low != 0) add(as::addi(rd, rd, static_cast<i32>(low)));
  }
  /// An address within 2 GiB.
  void la(u32 rd, u64 target) {
    const u64 delta = target - address();
    const i32 low = static_cast<i32>(static_cast<i64>(delta << 52) >> 52);
    add(0x17 | rd << 7 | (static_cast<u32>(delta - static_cast<u64>(i64{low})) & 0xfffff000));
    add(as::addi(rd, rd, low));
  }

  /// Throws std::logic_error on a label that was not bound.
  std::vector<u32> words() const {
    std::vector<u32> out = words_;
    for (const Reach& one : reaches_) {
      const std::size_t target = targets_.at(one.to);
      if (target == kUnbound) throw std::logic_error("a label is used and nowhere bound");
      const i32 delta = 4 * (static_cast<i32>(target) - static_cast<i32>(one.at));
      out[one.at] = one.kind == kJump ? as::jal(one.a, delta) : encode::b(one.kind, one.a, one.b, delta);
    }
    return out;
  }

 private:
  static constexpr std::size_t kUnbound = ~std::size_t{0};
  static constexpr u32 kJump = 8;
  struct Reach {
    std::size_t at;
    Label to;
    u32 kind, a, b;
  };
  void reach(Label to, u32 kind, u32 a, u32 b) { reaches_.push_back({words_.size(), to, kind, a, b}); }

  u64 base_;
  std::vector<u32> words_;
  std::vector<std::size_t> targets_;
  std::vector<Reach> reaches_;
};

}  // namespace shinken::test
