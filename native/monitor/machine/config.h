#pragma once
// What a machine is made of.
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "monitor/base/types.h"
#include "monitor/devices/virtio_net.h"
#include "monitor/machine/abi.h"
#include "monitor/memory/guest_memory.h"

namespace shinken {

struct DiskConfig {
  /// Host file; a read-only one is mapped once per process and shared by all machines.
  std::string path;
  /// Recorded in goldens and compared at load, e.g. the image's digest; at most 64 bytes.
  std::string identity;
  /// Guest writes go to the file (image building only). A machine with a writable disk cannot be frozen.
  bool writable = false;
};

struct MachineConfig {
  u64 memory_mib = kDefaultMemoryMiB;
  MemoryKind memory = MemoryKind::kSoft;
  /// Linux Image (flat), ELF64 for RISC-V, or else a flat binary entered at kRamBase + kProgramOffset.
  std::string program;
  std::string initrd;    // optional path
  std::string bootargs;  // /chosen/bootargs
  std::vector<DiskConfig> disks;
  /// /chosen/rng-seed; all zeros: none is given.
  std::array<u8, 32> rng_seed{};
  /// First VM generation ID.
  std::array<u8, 16> generation_id{};
  /// Of the network card: an address of one station (bit 0 of its first byte clear, not all zeros).
  MacAddress mac{0x02, 0, 0, 0, 0, 0x01};
};

/// Console output (SBI DBCN, legacy putchar and UART share one stream). Called on the thread that runs the
/// machine.
using ConsoleSink = std::function<void(std::span<const u8>)>;

}  // namespace shinken
