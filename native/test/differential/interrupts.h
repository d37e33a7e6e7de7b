#pragma once
// An interrupt at every offset of a random block: it must come at its very instruction, and all that follows
// must be the same in blocks, in translated blocks and in single steps.
#include <algorithm>
#include <cstddef>
#include <sstream>

#include "test/differential/sequence.h"
#include "test/support/assembler.h"
#include "test/support/flat_machine.h"

namespace shinken::test::interrupts {

enum class Kind : u8 { kTimer, kExternal };

class Program {
 public:
  static constexpr u64 kPages = 16;
  /// `length` random instructions, a jump back to the first; in S-mode or, for odd seeds, in U-mode.
  Program(u64 seed, unsigned length) : seed_(seed), random_(seed) {
    SequenceMaker maker(random_);
    maker.append(code_, length);
    emit32(code_, as::jal(0, -static_cast<i32>(2 * code_.size())));
    for (u64& value : x_) value = interesting_integer(random_);
    for (u64& value : f_) value = interesting_float(random_);
    x_[0] = 0;
    x_[2] = kData + 0x800 + 8 * random_.below(0x100);
    x_[3] = kLog;
    x_[8] = kData + 0x800 + random_.below(0x800);
    x_[9] = kData + 8 * random_.below(0x200);
    fcsr_ = random_.below(5) << 5;
  }

  /// Where the program stands after 0, 1, ... `instructions` of them, undisturbed.
  std::vector<u64> places(u64 instructions) const {
    Run run(*this, Translation::kNever);
    std::vector<u64> out = {run.state().pc};
    for (u64 n = 1; n <= instructions; ++n) run.machine.hart.run(n), out.push_back(run.state().pc);
    return out;
  }

  /// The state and memory after `end` instructions with an interrupt at `at`; `sepc` is where it came. Single
  /// steps if `step`.
  std::string outcome(Kind kind, u64 at, u64 end, Translation translation, bool step, u64* sepc) const {
    Run run(*this, translation);
    if (kind == Kind::kTimer) run.state().stimecmp = at;
    const auto go_on = [&run, step](u64 to) {
      while (step && run.state().instret + 1 < to) run.machine.hart.run(run.state().instret + 1);
      run.machine.hart.run(to);
    };
    if (kind == Kind::kExternal) {
      if (at != 0) go_on(at);
      run.machine.hart.set_external_interrupt(true);
    }
    go_on(end);
    *sepc = run.machine.memory.read<u64>(kLog + kSepc);
    if (run.machine.memory.read<u64>(kLog + kCount) != 1) *sepc = 0;
    const auto* state = reinterpret_cast<const char*>(&run.machine.hart.state());
    std::string all(state, offsetof(HartState, waiting) + 1);
    return all.append(run.machine.memory.bytes().begin(), run.machine.memory.bytes().end());
  }

 private:
  static constexpr u64 kHandler = kRamBase, kCode = kRamBase + 0x1000, kLog = kRamBase + 0x3000;
  static constexpr u64 kData = kRamBase + 0x4000;
  // Offsets in the log.
  enum : i32 { kSave5 = 0, kCount = 8, kSepc = 16, kDevice = 24 };

  struct Run {
    Run(const Program& program, Translation translation) : machine(kPages) {
      machine.hart.set_translation(translation);
      // Notes where it was, disarms the timer, makes the device lower its line.
      machine.load(kHandler, {as::sd(5, 3, kSave5), as::ld(5, 3, kCount), as::addi(5, 5, 1),
                              as::sd(5, 3, kCount), as::csrrs(5, kCsrSepc, 0), as::sd(5, 3, kSepc),
                              as::addi(5, 0, -1), as::csrrw(0, kCsrStimecmp, 5), as::ld(5, 3, kDevice),
                              as::sd(0, 5, 0), as::ld(5, 3, kSave5), as::kSret});
      machine.memory.put(kCode, program.code_.data(), 2 * program.code_.size());
      machine.memory.write<u64>(kLog + kDevice, FlatBus::kDevice);
      machine.bus.on_write = [this](u64, u64) { machine.hart.set_external_interrupt(false); };
      std::copy(program.x_.begin(), program.x_.end(), state().x);
      std::copy(program.f_.begin(), program.f_.end(), state().f);
      state().fcsr = program.fcsr_;
      state().pc = kCode;
      state().stvec = kHandler;
      state().mode = program.seed_ & 1 ? 0 : 1;
      state().sstatus = kSstatusFs | kSstatusSie;
      state().sie = kInterruptTimer | kInterruptExternal;
    }
    HartState& state() { return machine.hart.state(); }
    FlatMachine machine;
  };

  u64 seed_;
  Random random_;
  Code code_;
  std::array<u64, 32> x_, f_;
  u64 fcsr_;
};

/// Empty, or what went wrong. Every offset of the first two passes over `length` instructions.
inline std::string check(u64 seed, unsigned length, u64* placed) {
  const Program program(seed, length);
  const u64 offsets = 2 * length;
  const std::vector<u64> places = program.places(offsets);
  for (const Kind kind : {Kind::kTimer, Kind::kExternal}) {
    for (u64 at = 0; at < offsets; ++at) {
      const u64 end = at + 60;
      std::string outcomes[3];
      u64 sepc[3];
      outcomes[0] = program.outcome(kind, at, end, Translation::kNever, true, &sepc[0]);
      outcomes[1] = program.outcome(kind, at, end, Translation::kNever, false, &sepc[1]);
      outcomes[2] = program.outcome(kind, at, end, Translation::kAll, false, &sepc[2]);
      ++*placed;
      for (int i = 0; i < 3; ++i) {
        static constexpr const char* kManners[] = {"single steps", "blocks", "translated blocks"};
        std::ostringstream text;
        text << "seed " << seed << ", " << (kind == Kind::kTimer ? "timer" : "external") << " at " << at
             << ", " << kManners[i] << ": " << std::hex;
        if (sepc[i] != places[at]) {
          text << "came at " << sepc[i] << ", not at " << places[at];
          return text.str();
        }
        if (outcomes[i] != outcomes[0]) return text.str() + "another end than in single steps";
      }
    }
  }
  return "";
}

}  // namespace shinken::test::interrupts
