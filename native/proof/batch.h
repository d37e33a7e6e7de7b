#pragma once
// One batch of the proof: a program from a seed, run here in several manners and by the oracle.
#include <string>

#include "proof/extensions.h"

namespace shinken::proof {

enum class Kind : u8 { kUser, kSystem, kInterrupts };
inline constexpr Kind kKinds[] = {Kind::kUser, Kind::kSystem, Kind::kInterrupts};
/// "user", "system", "interrupts".
const char* name_of(Kind kind);

struct BatchResult {
  Counts counts;            // random instructions that were generated
  u64 traps = 0;            // exceptions that they took under QEMU
  u64 interrupts = 0;       // and interrupts, or places at which one was raised
  u64 mismatches = 0;       // programs, sequences or fragments that ended otherwise, over all manners
  std::string explanation;  // of the first
};

/// Throws std::runtime_error if QEMU cannot be run.
BatchResult run_batch(Kind kind, u64 seed);

}  // namespace shinken::proof
