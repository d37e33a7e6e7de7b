#pragma once
// A user program on our hart and in QEMU, and what differs.
#include <sstream>
#include <stdexcept>

#include "test/differential/program.h"
#include "test/differential/qemu.h"
#include "test/support/flat_machine.h"

namespace shinken::test::user {

inline bool have_qemu() {
  return have_command("qemu-riscv64");
}

inline std::vector<u8> run_in_qemu(const Program& program) {
  const std::vector<u8> output = run_in_qemu_user(to_elf(program));
  if (output.size() != program.output_bytes()) throw std::runtime_error("QEMU wrote too little");
  return output;
}

/// Data and registers at the end; `step` > 0 limits every run to that many instructions. Throws
/// std::runtime_error if the program traps.
inline std::vector<u8> run_here(const Program& program, u64 step = 0,
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
  if (state.scause != 0) {
    std::ostringstream text;
    text << std::hex << "a user program trapped: scause " << state.scause << " sepc " << state.sepc
         << " stval " << state.stval;
    throw std::runtime_error(text.str());
  }
  const u8* from = &machine.memory.bytes()[Program::kData - kRamBase];
  return {from, from + program.output_bytes()};
}

/// Numbers of the sequences that differ; `sequences` for the data.
inline std::vector<u64> differing(const Program& program, const std::vector<u8>& a,
                                  const std::vector<u8>& b) {
  std::vector<u64> out;
  for (u64 n = 0; n < program.sequences; ++n) {
    const u64 at = Program::kDataBytes + n * Program::kRecord;
    if (std::memcmp(&a[at], &b[at], Program::kRecord) != 0) out.push_back(n);
  }
  if (std::memcmp(a.data(), b.data(), Program::kDataBytes) != 0) out.push_back(program.sequences);
  return out;
}

/// The registers that differ after a sequence, and its code.
inline std::string explain(const Program& program, u64 sequence, const std::vector<u8>& theirs,
                           const std::vector<u8>& ours) {
  std::ostringstream text;
  text << "sequence " << sequence << ": QEMU, here\n" << std::hex;
  if (sequence == program.sequences) return text.str() + "  the data\n";
  for (unsigned field = 0; field < 65; ++field) {
    const u64 at = Program::kDataBytes + sequence * Program::kRecord + u64{8} * field;
    u64 want = 0, got = 0;
    std::memcpy(&want, &theirs[at], 8);
    std::memcpy(&got, &ours[at], 8);
    if (want == got) continue;
    text << "  "
         << (field < 32   ? "f"
             : field < 64 ? "x"
                          : "fcsr ")
         << std::dec << field % 32 << std::hex << " " << want << " " << got << "\n";
  }
  const u64 from = (program.starts[sequence] - Program::kCode) / 2;
  for (u64 h = from; h < (program.ends[sequence] - Program::kCode) / 2; ++h) text << " " << program.code[h];
  text << "\n";
  return text.str();
}

}  // namespace shinken::test::user
