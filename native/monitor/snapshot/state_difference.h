#pragma once
// In what two machines' states differ, for whoever has to find out why.
#include <string>
#include <vector>

#include "monitor/snapshot/golden.h"

namespace shinken {

struct StateDifference {
  struct Register {
    std::string name;  // pc, x1.., f0.., a control register, instret, skipped, mode, waiting, ...
    u64 one, other;
  };
  static constexpr std::size_t kPagesNamed = 16;

  std::vector<Register> registers;
  /// plic, uart, generation, console, disk0.., net, events, frames, reset; disks, if there are not as many.
  std::vector<std::string> devices;
  u64 pages = 0;                 // of RAM, that hold other bytes; all, if there are not as many
  std::vector<u64> first_pages;  // numbers of the first of them, at most kPagesNamed

  bool equal() const { return registers.empty() && devices.empty() && pages == 0; }
};

/// Costs a comparison of the pages that the two do not share. Throws MonitorError kGoldenState.
StateDifference compare_states(const Golden& one, const Golden& other);

}  // namespace shinken
