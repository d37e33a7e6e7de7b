#pragma once
// A system program on our machine and in QEMU, and what differs.
#include <sstream>

#include "monitor/machine/machine_impl.h"
#include "test/differential/qemu.h"
#include "test/differential/system_program.h"

namespace shinken::test::system {

inline bool have_qemu_system() {
  return have_command("qemu-system-riscv64");
}

/// The lines that follow the harness's mark.
inline std::vector<std::string> lines_of(std::string text) {
  std::erase(text, '\r');
  std::vector<std::string> lines;
  const std::size_t mark = text.find("\nGO\n");
  if (mark == std::string::npos) return lines;
  std::istringstream stream(text.substr(mark + 4));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// `step` > 0 cuts the run into slices of so many instructions.
inline std::vector<std::string> run_here(const SystemProgram& program, Translation translation,
                                         MemoryKind memory = MemoryKind::kSoft, u64 step = 0) {
  const TempDir dir;
  MachineConfig config;
  config.program = dir.write("program", program.binary);
  config.memory_mib = 128;
  config.memory = memory;
  const auto machine = Machine::create(config);
  Machine::impl_of(*machine)->hart->set_translation(translation);
  std::string text;
  machine->set_console([&text](std::span<const u8> bytes) { text.append(bytes.begin(), bytes.end()); });
  RunRequest request;
  request.max_instructions = 4'000'000'000;  // far too many
  machine->begin(std::move(request));
  while (machine->slice(step != 0 ? step : ~u64{0}).state != SliceResult::State::kDone) {
  }
  const RunResult result = machine->finish();
  if (result.reason != StopReason::kShutdown) {
    text += std::string("stopped: ") + stop_name(result.reason) + "\n";
  }
  return lines_of(text);
}

inline std::vector<std::string> run_in_qemu(const SystemProgram& program) {
  return lines_of(run_in_qemu_system(program.binary));
}

/// How often which trap was taken, by cause, interrupts from 16 on: the last lines.
inline std::array<u64, kCauses> taken(const std::vector<std::string>& lines) {
  std::array<u64, kCauses> out{};
  if (lines.size() < kCauses) return out;
  for (u64 i = 0; i < kCauses; ++i) out[i] = std::stoull(lines[lines.size() - kCauses + i], nullptr, 16);
  return out;
}

/// Numbers of the fragments whose digests differ; a missing one differs. What one fragment leaves in memory
/// is in the digest of the next, so the first one is to be looked at.
inline std::vector<u64> differing(const SystemProgram& program, const std::vector<std::string>& a,
                                  const std::vector<std::string>& b) {
  std::vector<u64> out;
  for (u64 n = 0; n < program.fragments; ++n) {
    if (n >= a.size() || n >= b.size() || a[n] != b[n]) out.push_back(n);
  }
  if (out.empty() && a != b) out.push_back(0);
  return out;
}

/// The fragment's traps (cause, pc, status, value), registers and code, from both.
inline std::string explain(SystemProgram program, u64 fragment) {
  program.show(fragment);
  const std::vector<std::string> theirs = run_in_qemu(program);
  const std::vector<std::string> ours = run_here(program, Translation::kNever);
  std::ostringstream text;
  text << "fragment " << fragment << ": QEMU, here\n";
  // Four lines a trap, then the registers.
  u64 shown_lines = 0;
  for (u64 i = fragment; i < std::min(theirs.size(), ours.size()) && shown_lines < 40; ++i) {
    if (theirs[i] == ours[i]) continue;
    text << "  line " << i - fragment << ": " << theirs[i] << " " << ours[i] << "\n";
    ++shown_lines;
  }
  Fragment shown;
  std::memcpy(&shown, &program.binary[kTable + (fragment << kFragmentShift) - kBase], sizeof shown);
  text << std::hex << "entry " << shown.entry << " sstatus " << shown.sstatus << " x2 " << shown.x[2]
       << " x8 " << shown.x[8] << " x9 " << shown.x[9] << "\n ";
  for (const u64 page : shown.pages) text << " " << page;
  text << "\n ";
  for (u64 h = program.starts[fragment]; h < program.starts[fragment + 1]; ++h) {
    text << " " << program.code[h];
  }
  text << "\n";
  return text.str();
}

}  // namespace shinken::test::system
