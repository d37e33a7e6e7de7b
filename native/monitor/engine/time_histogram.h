#pragma once
// How long requests took, in classes whose bounds metrics show.
#include <algorithm>
#include <array>
#include <chrono>

#include "monitor/base/types.h"

namespace shinken {

struct TimeHistogram {
  /// Upper bounds of the classes, nanoseconds; one more class holds what is beyond the last.
  static constexpr std::array<u64, 12> kBounds = {100'000,     500'000,       1'000'000,     2'000'000,
                                                  5'000'000,   10'000'000,    20'000'000,    50'000'000,
                                                  100'000'000, 1'000'000'000, 5'000'000'000, 30'000'000'000};

  std::array<u64, kBounds.size() + 1> counts{};
  u64 count = 0;
  u64 sum_ns = 0;

  void add(std::chrono::nanoseconds time) {
    const u64 ns = time.count() < 0 ? 0 : static_cast<u64>(time.count());
    const auto at = std::lower_bound(kBounds.begin(), kBounds.end(), ns);
    ++counts[static_cast<std::size_t>(at - kBounds.begin())];
    ++count;
    sum_ns += ns;
  }
};

}  // namespace shinken
