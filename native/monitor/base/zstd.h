#pragma once
// Zstandard, if this host has it: the system's library is looked for when it is first needed, so that neither
// a build nor a start depends on it.
#include <span>
#include <vector>

#include "monitor/base/types.h"

namespace shinken::zstd {

/// True if the library is there.
bool available();
/// One frame. Throws MonitorError kZstdMissing, or kNoMemory if the library fails.
std::vector<u8> compress(std::span<const u8> bytes);
/// False unless the frame is whole and gives exactly `to.size()` bytes. Throws MonitorError kZstdMissing.
bool decompress(std::span<const u8> frame, std::span<u8> to);

}  // namespace shinken::zstd
