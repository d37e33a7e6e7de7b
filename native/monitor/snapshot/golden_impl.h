#pragma once
// What a golden holds; for machine/ and snapshot/ only.
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "monitor/cpu/code_page.h"
#include "monitor/cpu/code_starts.h"
#include "monitor/cpu/hart.h"
#include "monitor/devices/disk_file.h"
#include "monitor/machine/abi.h"
#include "monitor/memory/memory_image.h"
#include "monitor/snapshot/golden.h"

namespace shinken {

struct Golden::Impl {
  std::shared_ptr<const MemoryImage> image;
  std::vector<u8> state;  // hart and board, as Machine saves them
  u64 instret = 0, ticks = 0;
  std::vector<std::shared_ptr<DiskFile>> disks;
  std::string note;

  /// `image->sum()`, computed once.
  Digest memory_sum();

  std::mutex mutex;  // guards what follows
  std::optional<Digest> sum;
  std::optional<Digest> digest;
  std::shared_ptr<SharedCode> code = std::make_shared<SharedCode>();  // never null
  std::shared_ptr<const std::vector<CodeStarts>> starts;              // of code that is not decoded yet
};

/// The meta section of a file: hart and board, disks, note.
std::vector<u8> encode_meta(const Golden::Impl& golden, const std::string& note);

/// Digest of a whole machine from its parts.
Digest machine_digest(std::span<const u8> state, u64 memory_pages, const Digest& memory_sum,
                      u32 machine_abi = kMachineAbi);

/// Reads a machine's state without building the machine: its counters. False if the bytes are no such state.
bool describe_state(std::span<const u8> state, const std::vector<std::shared_ptr<DiskFile>>& disks,
                    u64* instret, u64* ticks);

/// A machine's state in parts, for people: the hart's registers, and the bytes of each device, by name.
struct StateParts {
  std::vector<std::pair<std::string, u64>> registers;
  std::vector<std::pair<std::string, std::vector<u8>>> devices;
};
/// Throws MonitorError kGoldenState if the bytes are no such state.
StateParts state_parts(std::span<const u8> state, const std::vector<std::shared_ptr<DiskFile>>& disks);

}  // namespace shinken
