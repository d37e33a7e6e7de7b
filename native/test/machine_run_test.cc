#include "monitor/machine/machine_run.h"

#include <doctest/doctest.h>

#include "monitor/base/error.h"
#include "test/support/script_guest.h"
#include "test/support/temp_dir.h"

using namespace shinken;
using shinken::test::ScriptGuest;
using shinken::test::TempDir;

namespace {

struct Ran {
  MachineRunOutcome outcome;
  std::string console;
};

Ran run(const ScriptGuest& guest, u64 limit = 0) {
  TempDir dir;
  Ran ran;
  MachineRunOptions options;
  options.program = dir.write("guest.bin", guest.binary());
  options.memory_mib = 64;
  options.max_instructions = limit;
  options.console = [&](std::span<const u8> bytes) { ran.console.append(bytes.begin(), bytes.end()); };
  ran.outcome = machine_run(options);
  return ran;
}

}  // namespace

TEST_CASE("a flat binary prints on the SBI console and ends with exit code 0") {
  const Ran ran = run(ScriptGuest().print('h').print('i').shut_down());
  CHECK(ran.console == "hi");
  CHECK(ran.outcome.exit_code == 0);
  CHECK(ran.outcome.detail == "");
}

TEST_CASE("a reset with reason system failure is exit code 1") {
  const Ran ran = run(ScriptGuest().shut_down(1));
  CHECK(ran.outcome.exit_code == 1);
}

TEST_CASE("the instruction limit is exact and is exit code 2") {
  ScriptGuest guest;
  guest.spin(1'000'000).shut_down();
  const Ran ran = run(guest, 12'345);
  CHECK(ran.outcome.exit_code == 2);
  CHECK(ran.outcome.instret == 12'345);
}

TEST_CASE("a guest that waits for nothing is exit code 1 and says why") {
  const Ran ran = run(ScriptGuest().wfi().jump(0));
  CHECK(ran.outcome.exit_code == 1);
  CHECK(ran.outcome.detail == "the guest waits for something that can never happen");
}

TEST_CASE("waiting for the timer skips guest time and costs few instructions") {
  const Ran ran = run(ScriptGuest().timer(60 * kTicksPerSecond).wfi().shut_down());
  CHECK(ran.outcome.exit_code == 0);
  CHECK(ran.outcome.ticks >= 60 * kTicksPerSecond);
  CHECK(ran.outcome.ticks < 60 * kTicksPerSecond + 1000);
  CHECK(ran.outcome.instret < 1000);
}

TEST_CASE("legacy putchar and the debug console share the console, in order") {
  ScriptGuest guest;
  guest.put(0, {'b', 'c'}).print('a');
  guest.sbi(0x4442434e, 2, ScriptGuest::data(0)).print('d').shut_down();
  CHECK(run(guest).console == "abcd");
}

TEST_CASE("what cannot be loaded is refused by name") {
  TempDir dir;
  MachineRunOptions options;
  const auto kind_of = [&] {
    try {
      machine_run(options);
    } catch (const MonitorError& error) {
      return error.kind();
    }
    return ErrorKind::kClosed;
  };
  options.program = dir.file("absent");
  CHECK(kind_of() == ErrorKind::kFile);
  options.program = dir.write("empty", {});
  CHECK(kind_of() == ErrorKind::kBadProgram);
  options.program = dir.write("fine", ScriptGuest().shut_down().binary());
  options.memory_mib = 1;
  CHECK(kind_of() == ErrorKind::kInvalidConfig);
  options.memory_mib = 64;
  options.initrd = dir.write("initrd", std::vector<u8>(63 << 20));
  CHECK(kind_of() == ErrorKind::kBadInitrd);
}
