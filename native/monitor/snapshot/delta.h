#pragma once
// Delta files: a machine's state as its difference from a golden, to be opened again on top of that golden.
// Format: docs/golden.md.
//
//   save_delta(*machine->checkpoint(golden.get(), &changed), *golden, "step-7.delta", {});
//   const auto state = load_delta("step-7.delta", *golden);   // perhaps in another process
//   const auto fork = Machine::fork(state, options);
#include <optional>
#include <string>

#include "monitor/snapshot/golden.h"

namespace shinken {

struct DeltaSave {
  /// Opaque text, at most 64 KiB, that the loaded golden's `note()` gives back.
  std::string note = "";
  /// None: compressed where the host has Zstandard.
  std::optional<bool> compress = {};
};

struct DeltaFacts {
  Digest digest;  // of the state
  u64 pages;      // that hold other bytes than the golden's
  u64 bytes;      // of the file
};

/// Writes `state` as its difference from `golden`, from which it need not descend, under a temporary name
/// beside `path`, syncs, and renames. Costs the pages that the two do not share. Throws kFile, kZstdMissing,
/// kInvalidConfig (another size of memory, other disks, a note too long); leaves no half file.
DeltaFacts save_delta(const Golden& state, const Golden& golden, const std::string& path,
                      const DeltaSave& options);

/// Reads all of it, and checks all of it. The result shares the golden's other pages, its decoded code and
/// its disks, and outlives it. Throws as `Golden::load`, kDeltaGolden if it stands on another golden.
std::shared_ptr<Golden> load_delta(const std::string& path, const Golden& golden);

}  // namespace shinken
