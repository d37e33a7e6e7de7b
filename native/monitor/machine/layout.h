#pragma once
// Where everything is: physical addresses and interrupt lines. Part of machine_abi.
#include "monitor/base/types.h"

namespace shinken::layout {

inline constexpr u64 kPlic = 0x0c000000;
inline constexpr u64 kUart = 0x10000000;
inline constexpr u64 kVirtio = 0x10001000;  // console first, then the disks, one page each
inline constexpr u64 kVirtioStride = 0x1000;
inline constexpr u64 kNet = 0x10008000;
inline constexpr u64 kGenerationId = 0x10100000;

inline constexpr unsigned kVirtioIrq = 1;  // and following
inline constexpr unsigned kNetIrq = 8;
inline constexpr unsigned kGenerationIrq = 9;
inline constexpr unsigned kUartIrq = 10;

inline constexpr u64 kHartId = 0;
/// The device tree and, below it, the initial root lie at the end of RAM; both are aligned to this.
inline constexpr u64 kBlobAlign = 2 * 1024 * 1024;
inline constexpr u64 kMaxDeviceTree = 64 * 1024;
inline constexpr u64 kMaxBootargs =
    2048;  // Linux's COMMAND_LINE_SIZE on riscv is 1024; ours only bounds the tree

}  // namespace shinken::layout
