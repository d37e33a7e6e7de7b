#pragma once
// Integer names and page geometry shared by every room of the monitor.
#include <cstddef>
#include <cstdint>

namespace shinken {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

inline constexpr u64 kPageShift = 12;
inline constexpr u64 kPageSize = u64{1} << kPageShift;
inline constexpr u64 kPageMask = kPageSize - 1;

/// Guest-physical address of the first byte of RAM (fixed: part of `machine_abi`).
inline constexpr u64 kRamBase = 0x80000000;

/// Virtual time is counted in ticks of 2 ns: one retired instruction is one tick, an idle wait skips ticks.
inline constexpr u64 kTicksPerSecond = 500'000'000;

}  // namespace shinken
