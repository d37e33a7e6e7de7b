#include "proof/batch.h"

#include "monitor/memory/userfault.h"
#include "test/differential/interrupts.h"
#include "test/differential/system_run.h"
#include "test/differential/user_run.h"

namespace shinken::proof {
namespace {

using namespace shinken::test;

constexpr unsigned kUserSequences = 3000, kUserLength = 40;
constexpr unsigned kFragments = 3000, kFragmentLength = 30;
constexpr unsigned kBlocks = 8, kBlockLength = 40;

BatchResult user_batch(u64 seed) {
  const Program program = make_program(seed, kUserSequences, kUserLength);
  BatchResult result;
  for (unsigned n = 0; n < program.sequences; ++n) {
    count(program.code, (program.starts[n] - Program::kCode) / 2, (program.ends[n] - Program::kCode) / 2,
          result.counts);
  }
  const std::vector<u8> expected = user::run_in_qemu(program);
  const struct {
    const char* name;
    u64 step;
    Translation translation;
  } manners[] = {{"blocks", 0, Translation::kNever},
                 {"single steps", 1, Translation::kNever},
                 {"translated", 0, Translation::kAll},
                 {"translated, in pieces of 7", 7, Translation::kAll}};
  for (const auto& manner : manners) {
    const std::vector<u8> actual = user::run_here(program, manner.step, manner.translation);
    const std::vector<u64> different = user::differing(program, expected, actual);
    result.mismatches += different.size();
    if (different.empty() || !result.explanation.empty()) continue;
    result.explanation =
        std::string(manner.name) + ", " + user::explain(program, different[0], expected, actual);
  }
  return result;
}

bool host_has_userfaultfd() {
  try {
    Userfault::shared();
    return true;
  } catch (const MonitorError&) {
    return false;
  }
}

BatchResult system_batch(u64 seed) {
  const system::SystemProgram program = system::make_system_program(seed, kFragments, kFragmentLength);
  BatchResult result;
  count(program.code, 0, program.code.size(), result.counts);
  const std::vector<std::string> expected = system::run_in_qemu(program);
  const auto taken = system::taken(expected);
  for (u64 cause = 0; cause < system::kCauses; ++cause) {
    (cause < 16 ? result.traps : result.interrupts) += taken[cause];
  }
  const struct {
    const char* name;
    Translation translation;
    MemoryKind memory;
    u64 step;
  } manners[] = {{"blocks", Translation::kNever, MemoryKind::kSoft, 0},
                 {"translated", Translation::kAll, MemoryKind::kSoft, 0},
                 {"in pieces of 997", Translation::kHot, MemoryKind::kSoft, 997},
                 {"flat memory", Translation::kAll, MemoryKind::kMap, 0}};
  for (const auto& manner : manners) {
    if (manner.memory == MemoryKind::kMap && !host_has_userfaultfd()) continue;
    const std::vector<u64> different = system::differing(
        program, expected, system::run_here(program, manner.translation, manner.memory, manner.step));
    result.mismatches += different.size();
    if (different.empty() || !result.explanation.empty()) continue;
    result.explanation = std::string(manner.name) + ", " + system::explain(program, different[0]);
  }
  return result;
}

BatchResult interrupt_batch(u64 seed) {
  BatchResult result;
  for (u64 block = 0; block < kBlocks; ++block) {
    const std::string wrong = interrupts::check(seed * kBlocks + block, kBlockLength, &result.interrupts);
    if (wrong.empty()) continue;
    ++result.mismatches;
    if (result.explanation.empty()) result.explanation = wrong;
  }
  return result;
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kUser:
      return "user";
    case Kind::kSystem:
      return "system";
    default:
      return "interrupts";
  }
}

BatchResult run_batch(Kind kind, u64 seed) {
  switch (kind) {
    case Kind::kUser:
      return user_batch(seed);
    case Kind::kSystem:
      return system_batch(seed);
    default:
      return interrupt_batch(seed);
  }
}

}  // namespace shinken::proof
