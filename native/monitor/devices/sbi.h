#pragma once
// The firmware: SBI 2.0 as far as a single hart needs it (RISC-V Supervisor Binary Interface Specification).
#include <span>

#include "monitor/cpu/bus.h"
#include "monitor/memory/guest_memory.h"

namespace shinken {

/// What the firmware does its work with; implemented by the board.
class SbiHost {
 public:
  virtual ~SbiHost() = default;
  virtual GuestMemory& memory() = 0;
  virtual void console_write(std::span<const u8> bytes) = 0;
  /// Next byte typed on the console, or -1.
  virtual int console_read() = 0;
  virtual void set_timer(u64 deadline) = 0;
  /// `type` 0 shutdown, 1 cold reboot, 2 warm reboot; `reason` 0 none, 1 system failure.
  virtual void system_reset(u32 type, u32 reason) = 0;
};

/// Bytes that one debug console call moves at most; the call says how many it did.
inline constexpr u64 kMaxDebugConsoleBytes = 64 * 1024;

/// Answers one `ecall` from S-mode. Arguments are guest-controlled; unknown calls yield "not supported".
SbiResult sbi_call(SbiHost& host, u64 extension, u64 function, const u64 args[6]);

}  // namespace shinken
