#pragma once
// Address space of the process, from the kernel.
#include "monitor/base/types.h"

namespace shinken {

inline constexpr u64 kHugeBytes = u64{2} << 20;

/// mmap of a file from its beginning, or of nothing (`file` < 0); with `aligned` at a multiple of 2 MiB, so
/// that huge pages can be mapped whole. The caller unmaps it. Throws MonitorError kNoMemory.
u8* map_host(int file, u64 bytes, int protection, int flags, bool aligned);

}  // namespace shinken
