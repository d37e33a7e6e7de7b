#pragma once
// What makes two monitors run a guest alike.
#include "monitor/base/types.h"

namespace shinken {

/// Changes whenever device timing, memory map, device tree, generated boot arguments, firmware answers, the
/// tick rate or the serialised state change. Goldens and replays carry it; other values are refused.
inline constexpr u32 kMachineAbi = 2;

inline constexpr u64 kMinMemoryMiB = 64;
inline constexpr u64 kMaxMemoryMiB = 4096;
inline constexpr u64 kDefaultMemoryMiB = 512;
/// Where a flat binary or a Linux Image is put: offset from `kRamBase`.
inline constexpr u64 kProgramOffset = 0x200000;
inline constexpr unsigned kMaxDisks = 4;

}  // namespace shinken
