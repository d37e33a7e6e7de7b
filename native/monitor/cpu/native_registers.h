#pragma once
// Who lives where while translated code runs. The rest (rax, rcx, rdx) is scratch; `kPool` caches guest
// registers.
#include "monitor/cpu/x86_writer.h"

namespace shinken::native {

inline constexpr x86::Reg kState = x86::rbx;        // HartState plus kStateBias
inline constexpr x86::Reg kJumps = x86::rbp;        // JumpCache
inline constexpr x86::Reg kRemaining = x86::r12;    // instructions left
inline constexpr x86::Reg kData = x86::r13;         // DataTlb of the context
inline constexpr x86::Reg kVirtualPage = x86::r14;  // address of the executing page
inline constexpr x86::Reg kPool[] = {x86::rsi, x86::rdi, x86::r8, x86::r9, x86::r10, x86::r11, x86::r15};

/// So that every integer register is within a one-byte displacement.
inline constexpr int kStateBias = 128;

}  // namespace shinken::native
