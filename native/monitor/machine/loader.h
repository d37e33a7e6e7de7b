#pragma once
// Puts a program, an initial root and the device tree into RAM. File contents are not trusted.
#include <span>

#include "monitor/machine/device_tree.h"
#include "monitor/memory/guest_memory.h"

namespace shinken {

struct Loaded {
  u64 entry;         // first pc
  u64 end;           // first address after the program, as far as it says
  const char* kind;  // "image", "elf" or "flat"
};

/// Linux Image (flat, riscv), ELF64 for RISC-V, or else a flat binary at kRamBase + kProgramOffset.
/// Throws MonitorError kBadProgram.
Loaded load_program(GuestMemory& memory, std::span<const u8> file);

/// Places the initial root and the device tree at the end of RAM, above `program_end`; fills in `tree`'s
/// initrd and returns the address of the device tree. Throws kBadInitrd.
u64 load_blobs(GuestMemory& memory, u64 program_end, std::span<const u8> initrd, DeviceTreeInput tree);

}  // namespace shinken
