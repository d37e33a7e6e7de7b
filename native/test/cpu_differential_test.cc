// Our hart against QEMU's user-mode emulation, on random programs over IMAFDC.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "test/differential/program.h"
#include "test/support/flat_machine.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr unsigned kSequences = 3000;
constexpr unsigned kLength = 40;

bool have_qemu() {
  return std::system("command -v qemu-riscv64 >/dev/null 2>&1") == 0;
}

/// Standard output of the program under QEMU.
std::vector<u8> run_in_qemu(const Program& program) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/shinken-differential-XXXXXX";
  const int fd = mkstemp(path.data());
  REQUIRE(fd >= 0);
  const std::vector<u8> elf = to_elf(program);
  REQUIRE(write(fd, elf.data(), elf.size()) == static_cast<ssize_t>(elf.size()));
  REQUIRE(fchmod(fd, 0700) == 0);
  close(fd);
  std::FILE* pipe = popen(("qemu-riscv64 " + path).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::vector<u8> output(program.output_bytes());
  const std::size_t got = std::fread(output.data(), 1, output.size(), pipe);
  const int status = pclose(pipe);
  unlink(path.c_str());
  REQUIRE(status == 0);
  REQUIRE(got == output.size());
  return output;
}

/// The same from our hart; `step` > 0 limits every run to that many instructions.
std::vector<u8> run_here(const Program& program, u64 step = 0,
                         Translation translation = Translation::kNever) {
  FlatMachine machine(Program::kMemoryPages);
  machine.hart.set_translation(translation);
  machine.memory.put(Program::kCode, program.code.data(), program.code.size() * 2);
  machine.memory.put(Program::kInput, program.input.data(), program.input.size() * 8);
  machine.memory.put(Program::kData, program.data.data(), program.data.size());
  HartState& state = machine.hart.state();
  state.pc = Program::kCode;
  state.sstatus |= u64{3} << 13;
  // The first ecall ends the run, be it the program's or, after a trap that must not be, the one at stvec.
  machine.memory.write<u32>(kRamBase, 0x00000073);
  state.stvec = kRamBase;
  machine.bus.on_call = [&machine] { machine.hart.request_exit(); };
  while (machine.bus.sbi_calls == 0) machine.hart.run(state.instret + (step != 0 ? step : u64{1} << 40));
  INFO("scause " << state.scause << " sepc " << std::hex << state.sepc << " stval " << state.stval);
  REQUIRE(state.scause == 0);
  const u8* from = &machine.memory.bytes()[Program::kData - kRamBase];
  return {from, from + program.output_bytes()};
}

std::string name_of(unsigned field) {
  if (field < 32) return "f" + std::to_string(field);
  if (field < 64) return "x" + std::to_string(field - 32);
  return "fcsr";
}

/// Reports the first sequence that differs, with its code, and how many do.
unsigned compare(const Program& program, const std::vector<u8>& expected, const std::vector<u8>& actual) {
  unsigned different = 0;
  for (unsigned n = 0; n < program.sequences; ++n) {
    const u64 at = Program::kDataBytes + n * Program::kRecord;
    if (std::memcmp(&expected[at], &actual[at], Program::kRecord) == 0) continue;
    if (++different > 1) continue;
    std::string text;
    char line[160];
    for (unsigned field = 0; field < 65; ++field) {
      u64 want = 0, got = 0;
      std::memcpy(&want, &expected[at + 8 * field], 8);
      std::memcpy(&got, &actual[at + 8 * field], 8);
      if (want == got) continue;
      std::snprintf(line, sizeof line, "  %s: QEMU %016lx, here %016lx\n", name_of(field).c_str(), want, got);
      text += line;
    }
    const u64 from = (program.starts[n] - Program::kCode) / 2;
    for (u64 h = from; h < from + 2 * kLength && h < program.code.size(); ++h) {
      std::snprintf(line, sizeof line, "%04x ", program.code[h]);
      text += line;
    }
    MESSAGE("sequence " << n << " differs:\n" << text);
  }
  if (std::memcmp(expected.data(), actual.data(), Program::kDataBytes) != 0) ++different;
  return different;
}

u64 batches() {
  const char* text = std::getenv("SHINKEN_DIFFERENTIAL_BATCHES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

}  // namespace

TEST_CASE("random programs end with the same registers and memory as under QEMU") {
  if (!have_qemu()) {
    std::puts("skipped: qemu-riscv64 is not installed");
    return;
  }
  for (u64 batch = 1; batch <= batches(); ++batch) {
    CAPTURE(batch);
    const Program program = make_program(batch, kSequences, kLength);
    const std::vector<u8> expected = run_in_qemu(program);
    CHECK(compare(program, expected, run_here(program)) == 0);
    CHECK(compare(program, expected, run_here(program, 0, Translation::kAll)) == 0);
  }
}

TEST_CASE("random programs end alike in blocks, in single steps and in uneven pieces") {
  const Program program = make_program(77, 300, kLength);
  const std::vector<u8> blocks = run_here(program);
  CHECK(run_here(program, 1) == blocks);
  CHECK(run_here(program, 7) == blocks);
  CHECK(run_here(program, 0, Translation::kAll) == blocks);
  CHECK(run_here(program, 7, Translation::kAll) == blocks);
}
