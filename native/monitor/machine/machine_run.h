#pragma once
// `shinken machine run`: one program on one machine, its console on a sink.
#include <string>

#include "monitor/machine/config.h"

namespace shinken {

struct MachineRunOptions {
  std::string program;  // ELF, Linux Image or flat binary
  std::string initrd;
  std::string append;  // boot arguments
  u64 memory_mib = kDefaultMemoryMiB;
  u64 max_instructions = 0;  // 0: none
  std::vector<DiskConfig> disks;
  ConsoleSink console;  // gets every byte of SBI console and UART
};

struct MachineRunOutcome {
  /// 0: SBI reset, reason none (shutdown); 1: reason system failure, or the machine can never go on; 2:
  /// instruction limit.
  int exit_code;
  u64 instret;
  u64 ticks;
  std::string detail;  // empty, or one line for standard error
};

/// Runs on the calling thread until the guest ends. Throws MonitorError for files that cannot be loaded.
MachineRunOutcome machine_run(const MachineRunOptions& options);

}  // namespace shinken
