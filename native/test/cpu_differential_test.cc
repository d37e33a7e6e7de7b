// Our hart against QEMU's user-mode emulation, on random programs over IMAFDC.
#include <doctest/doctest.h>

#include "test/differential/user_run.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr unsigned kSequences = 3000;
constexpr unsigned kLength = 40;

}  // namespace

TEST_CASE("random programs end with the same registers and memory as under QEMU") {
  if (!user::have_qemu()) {
    std::puts("skipped: qemu-riscv64 is not installed");
    return;
  }
  const Program program = make_program(1, kSequences, kLength);
  const std::vector<u8> expected = user::run_in_qemu(program);
  for (const Translation translation : {Translation::kNever, Translation::kAll}) {
    const std::vector<u8> actual = user::run_here(program, 0, translation);
    const std::vector<u64> different = user::differing(program, expected, actual);
    if (!different.empty()) MESSAGE(user::explain(program, different[0], expected, actual));
    CHECK(different.empty());
  }
}

TEST_CASE("random programs end alike in blocks, in single steps and in uneven pieces") {
  const Program program = make_program(77, 300, kLength);
  const std::vector<u8> blocks = user::run_here(program);
  CHECK(user::run_here(program, 1) == blocks);
  CHECK(user::run_here(program, 7) == blocks);
  CHECK(user::run_here(program, 0, Translation::kAll) == blocks);
  CHECK(user::run_here(program, 7, Translation::kAll) == blocks);
}
