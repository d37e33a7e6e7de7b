#pragma once
// The smallest machine around a hart: RAM in one vector, a console behind SBI, one scratch device. For CPU
// tests.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "monitor/cpu/hart.h"

namespace shinken::test {

/// RAM in one piece that honours `watch` as the seam says. `shared` pages can be marked by hand, and are
/// until somebody writes them.
class FlatMemory final : public GuestMemory {
 public:
  explicit FlatMemory(u64 pages)
      : GuestMemory(pages), bytes_(pages << kPageShift), watched_(pages), shared_(pages) {}
  const u8* page_for_read(u64 page) override { return &bytes_[page << kPageShift]; }
  u8* page_for_write(u64 page) override {
    const bool moved = shared_[page];
    shared_[page] = false;
    if ((moved || watched_[page]) && observer_ != nullptr) observer_->on_page_write(page, moved);
    watched_[page] = false;
    return &bytes_[page << kPageShift];
  }
  const u8* shared_page(u64 page) const override {
    return shared_[page] ? &bytes_[page << kPageShift] : nullptr;
  }
  /// The vector outlives whoever runs over it.
  std::shared_ptr<const void> hold(u64 page) override {
    return {std::shared_ptr<const void>(), shared_page(page)};
  }
  void watch(u64 page) override { watched_[page] = true; }
  void mark_shared(u64 page, bool value) { shared_[page] = value; }
  bool watched(u64 page) const { return watched_[page]; }

  /// Physical accesses of the test itself, through the front door like a device's.
  void put(u64 pa, const void* data, std::size_t size) {
    const auto* from = static_cast<const u8*>(data);
    for (std::size_t i = 0; i < size; ++i, ++pa)
      page_for_write((pa - kRamBase) >> kPageShift)[pa & kPageMask] = from[i];
  }
  template <class T>
  void write(u64 pa, T value) {
    put(pa, &value, sizeof value);
  }
  template <class T>
  T read(u64 pa) const {
    T value;
    std::memcpy(&value, &bytes_[pa - kRamBase], sizeof value);
    return value;
  }
  const std::vector<u8>& bytes() const { return bytes_; }

 private:
  std::vector<u8> bytes_;
  std::vector<bool> watched_;
  std::vector<bool> shared_;
};

/// One 4 KiB device page at `kDevice` that remembers accesses; SBI console output; SBI reset asks the hart to
/// stop.
class FlatBus final : public Bus {
 public:
  static constexpr u64 kDevice = 0x10000000;
  bool mmio_read(u64 pa, unsigned size, u64* value) override {
    if (pa < kDevice || pa + size > kDevice + kPageSize) return false;
    ++reads;
    *value = register_value;
    return true;
  }
  bool mmio_write(u64 pa, unsigned size, u64 value) override {
    if (pa < kDevice || pa + size > kDevice + kPageSize) return false;
    ++writes;
    register_value = value;
    if (on_write) on_write(pa, value);
    return true;
  }
  SbiResult sbi_call(u64 extension, u64 function, const u64 args[6]) override {
    ++sbi_calls;
    if (on_call) on_call();
    if (extension == 0x4442434e && function == 2) {
      console.push_back(static_cast<char>(args[0]));
      return {0, 0};
    }
    if (extension == 0x53525354) {
      stopped = true;
      if (on_stop) on_stop();
      return {0, 0};
    }
    return {-2, 0};
  }
  void on_timer_changed() override { ++timer_changes; }

  std::function<void(u64, u64)> on_write;
  std::function<void()> on_stop, on_call;
  std::string console;
  u64 register_value = 0;
  unsigned reads = 0, writes = 0, sbi_calls = 0, timer_changes = 0;
  bool stopped = false;
};

/// Memory, bus and hart together; the hart starts at `kEntry` in S-mode.
struct FlatMachine {
  static constexpr u64 kEntry = kRamBase + 0x200000;
  explicit FlatMachine(u64 pages = 2048, std::shared_ptr<const SharedBlocks> shared = nullptr)
      : memory(pages), hart(&memory, &bus, std::move(shared)) {
    hart.state().pc = kEntry;
    bus.on_stop = [this] { hart.request_exit(); };
  }
  /// Loads instruction words at `pa`.
  void load(u64 pa, const std::vector<u32>& code) { memory.put(pa, code.data(), code.size() * 4); }
  u64& x(unsigned i) { return hart.state().x[i]; }

  FlatMemory memory;
  FlatBus bus;
  Hart hart;
};

}  // namespace shinken::test
