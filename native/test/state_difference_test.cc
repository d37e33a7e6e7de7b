// What is said of two states that differ.
#include "monitor/snapshot/state_difference.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "test/support/golden_files.h"

using namespace shinken;
using namespace shinken::test;

namespace {

std::vector<std::string> names(const StateDifference& difference) {
  std::vector<std::string> all;
  for (const auto& each : difference.registers) all.push_back(each.name);
  return all;
}

bool has(const std::vector<std::string>& all, const std::string& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

TEST_ON_BOTH_MEMORIES("two machines that did the same do not differ, in one family or in two") {
  TempDir dir;
  auto one = start_echo(dir, 4), other = start_echo(dir, 4);
  for (auto* machine : {&one, &other}) (*machine)->run(ask(1, 3));
  CHECK(compare_states(*one->freeze(), *other->freeze()).equal());
  auto golden = one->freeze();
  auto a = Machine::fork(golden, kGrade), b = Machine::fork(golden, kGrade);
  for (auto* machine : {&a, &b}) (*machine)->run(ask(2, 3));
  CHECK(compare_states(*a->freeze(), *b->freeze()).equal());
}

TEST_ON_BOTH_MEMORIES("other bytes in memory are named by their pages") {
  TempDir dir;
  auto golden = start_echo(dir, 4)->freeze();
  auto a = Machine::fork(golden, kGrade), b = Machine::fork(golden, kGrade);
  a->run(ask(1, 3));
  b->run(ask(1, 4));
  const StateDifference difference = compare_states(*a->freeze(), *b->freeze());
  CHECK(!difference.equal());
  // The payload lies in the guest's buffers, and nowhere else.
  CHECK(difference.registers.empty());
  CHECK(difference.devices.empty());
  CHECK(difference.pages >= 1);
  CHECK(difference.first_pages.size() == difference.pages);
  const u64 data = (ScriptGuest::data(0) - kRamBase) >> kPageShift;
  for (const u64 page : difference.first_pages) CHECK((page >= data && page < data + 16));
}

TEST_ON_BOTH_MEMORIES("a machine that went on differs in its counters, one with another name in its device") {
  TempDir dir;
  auto golden = start_echo(dir, 4)->freeze();
  auto a = Machine::fork(golden, kGrade), b = Machine::fork(golden, kGrade);
  b->run(ask(1, 3));
  StateDifference difference = compare_states(*a->freeze(), *b->freeze());
  CHECK(has(names(difference), "instret"));
  CHECK(has(difference.devices, "console"));
  CHECK(!has(difference.devices, "generation"));
  for (const auto& each : difference.registers) {
    if (each.name == "instret") CHECK(each.one < each.other);
  }
  auto renamed = Machine::fork(golden, {ForkKind::kReplica, {7}});
  difference = compare_states(*a->freeze(), *renamed->freeze());
  CHECK(has(difference.devices, "generation"));
  CHECK(!has(difference.devices, "uart"));
  CHECK(!has(names(difference), "instret"));
}

TEST_ON_BOTH_MEMORIES("no more pages are named than can be read, but all are counted") {
  TempDir dir;
  ScriptGuest guest;
  for (u32 i = 0; i < 40; ++i) guest.store32(ScriptGuest::data(0x10000 + i * kPageSize), i + 1);
  auto a = start(dir, guest.wfi()), b = start(dir, guest);
  a->run({});
  const StateDifference difference = compare_states(*a->freeze(), *b->freeze());
  CHECK(difference.pages >= 40);
  REQUIRE(difference.first_pages.size() == StateDifference::kPagesNamed);
  CHECK(std::is_sorted(difference.first_pages.begin(), difference.first_pages.end()));
}
