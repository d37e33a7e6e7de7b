#pragma once
// Bytes of decoded code that harts hold for themselves: each counts its own, and all together are known.
#include <algorithm>
#include <atomic>

#include "monitor/base/types.h"

namespace shinken {

class CodeBytes {
 public:
  CodeBytes() = default;
  ~CodeBytes() { clear(); }
  CodeBytes(const CodeBytes&) = delete;
  CodeBytes& operator=(const CodeBytes&) = delete;

  u64 value() const { return value_; }
  CodeBytes& operator+=(u64 bytes) {
    value_ += bytes;
    all().fetch_add(bytes, std::memory_order_relaxed);
    return *this;
  }
  CodeBytes& operator-=(u64 bytes) {
    bytes = std::min(bytes, value_);
    value_ -= bytes;
    all().fetch_sub(bytes, std::memory_order_relaxed);
    return *this;
  }
  void clear() { *this -= value_; }

  /// Of all harts of the process. Any thread.
  static u64 total() { return all().load(std::memory_order_relaxed); }

 private:
  static std::atomic<u64>& all() {
    static std::atomic<u64> bytes{0};
    return bytes;
  }
  u64 value_ = 0;
};

}  // namespace shinken
