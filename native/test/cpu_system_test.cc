// Our machine against QEMU's, as a whole: exceptions, interrupts, page tables and code that changes.
#include <doctest/doctest.h>

#include "test/differential/system_run.h"
#include "test/support/memories.h"
#include "test/support/sanitized.h"

using namespace shinken;
using namespace shinken::test;

TEST_CASE("random fragments under Sv39 trap and end as they do on QEMU's machine") {
  if (!system::have_qemu_system()) {
    std::puts("skipped: qemu-system-riscv64 is not installed");
    return;
  }
  const unsigned fragments = kSanitized ? 300 : 1000;
  const system::SystemProgram program = system::make_system_program(1, fragments, 30);
  const std::vector<std::string> expected = system::run_in_qemu(program);
  const auto check = [&](const std::vector<std::string>& actual) {
    const std::vector<u64> different = system::differing(program, expected, actual);
    if (!different.empty()) MESSAGE(system::explain(program, different[0]));
    CHECK(different.empty());
  };
  check(system::run_here(program, Translation::kNever));
  check(system::run_here(program, Translation::kAll));
  check(system::run_here(program, Translation::kHot, MemoryKind::kSoft, 997));
  if (host_has_flat_memory()) check(system::run_here(program, Translation::kAll, MemoryKind::kMap));

  // Fragments that meet nothing would show nothing.
  const auto taken = system::taken(expected);
  for (const u64 cause :
       {kFetchAccess, kIllegalInstruction, kBreakpoint, kLoadMisaligned, kLoadAccess, kStoreMisaligned,
        kStoreAccess, kEcallFromUser, kFetchPageFault, kLoadPageFault, kStorePageFault}) {
    CAPTURE(cause);
    CHECK(taken[cause] > fragments / 300);
  }
  for (const u64 interrupt : {1, 5, 9}) {
    CAPTURE(interrupt);
    CHECK(taken[16 + interrupt] > fragments / 300);
  }
}

TEST_CASE("random fragments under Sv39 end alike in blocks and in single steps") {
  const system::SystemProgram program = system::make_system_program(2, kSanitized ? 20 : 150, 30);
  const std::vector<std::string> steps = system::run_here(program, Translation::kNever, MemoryKind::kSoft, 1);
  CHECK(steps.size() == program.fragments + system::kCauses);
  CHECK(system::run_here(program, Translation::kNever) == steps);
  CHECK(system::run_here(program, Translation::kAll) == steps);
  CHECK(system::run_here(program, Translation::kAll, MemoryKind::kSoft, 7) == steps);
}
