#pragma once
// What a hart sees beyond RAM: memory-mapped devices, firmware calls and time.
#include "monitor/base/types.h"

namespace shinken {

struct HartState;

/// Result of an SBI call (error in a0, value in a1).
struct SbiResult {
  i64 error;
  i64 value;
};

/// Implemented by the machine (and by test benches). Every call happens between two instructions at an exact
/// `instret`, so devices see deterministic time.
class Bus {
 public:
  virtual ~Bus() = default;
  /// Access to a physical address outside RAM, `size` in {1,2,4,8}. False: access fault.
  virtual bool mmio_read(u64 pa, unsigned size, u64* value) = 0;
  virtual bool mmio_write(u64 pa, unsigned size, u64 value) = 0;
  /// `ecall` from S-mode. Extension, function and arguments are guest-controlled: trust nothing.
  virtual SbiResult sbi_call(u64 extension, u64 function, const u64 args[6]) = 0;
  /// stimecmp (Sstc) was written; the machine recomputes the next deadline.
  virtual void on_timer_changed() = 0;
  /// The hart dropped its translations, which costs the host far more than an instruction.
  virtual void on_translations_dropped() {}
  /// A page whose code the hart had decoded was written: what it decoded is gone, and so are jumps to it.
  virtual void on_code_dropped() {}
};

}  // namespace shinken
