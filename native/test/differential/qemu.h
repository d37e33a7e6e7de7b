#pragma once
// QEMU as the oracle: what to run it with, and on what.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/support/temp_dir.h"

namespace shinken::test {

inline bool have_command(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

/// Standard output of a command. Throws std::runtime_error if it fails.
inline std::vector<u8> output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  std::vector<u8> output;
  std::array<u8, 65536> chunk;
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    output.insert(output.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(got));
  }
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return output;
}

/// A file in user mode: what it writes.
inline std::vector<u8> run_in_qemu_user(std::span<const u8> elf) {
  const TempDir dir;
  const std::string path = dir.write("program", elf);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return output_of("qemu-riscv64 " + path);
}

/// How QEMU is told to make blocks of one instruction, which changed its name in version 8.1.
inline const std::string& one_instruction_a_block() {
  static const std::string option = [] {
    const std::vector<u8> said = output_of("qemu-system-riscv64 --version");
    return std::string(said.begin(), said.end()).find("version 7.") != std::string::npos
               ? " -accel tcg,thread=multi -singlestep"
               : " -accel tcg,thread=multi,one-insn-per-tb=on";
  }();
  return option;
}

/// A flat binary on the `virt` board over OpenSBI: what it says on the console until it shuts the board down.
/// One instruction a block, so that interrupts and changed instructions take effect at once, as ours do; and
/// no extension that we lack. A second hart sleeps: with one alone QEMU makes an AMO of a load and a store,
/// so that its faults are a load's.
inline std::string run_in_qemu_system(std::span<const u8> binary) {
  const TempDir dir;
  const std::string path = dir.write("program", binary);
  const std::vector<u8> output = output_of(
      "timeout 300 qemu-system-riscv64 -M virt -m 128M -smp 2 -bios default -display none -monitor none"
      " -net none -serial stdio -cpu rv64,zba=off,zbb=off,zbc=off,zbs=off,h=off" +
      one_instruction_a_block() + " -kernel " + path + " </dev/null");
  return {output.begin(), output.end()};
}

}  // namespace shinken::test
