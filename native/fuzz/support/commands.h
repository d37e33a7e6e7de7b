#pragma once
// What the fuzz targets of devices share: the input as commands, and what must hold of every device.
#include <cstdlib>

#include "fuzz/support/pool.h"
#include "monitor/devices/device.h"
#include "monitor/memory/soft_memory.h"

namespace shinken::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// An input read as commands of {op u8, a u16, b u32}, little-endian, after one byte of flags.
class Commands {
 public:
  static constexpr std::size_t kBytes = 7, kMax = 2000;
  Commands(const u8* data, std::size_t size) : data_(data), size_(size) {
    if (size_ > 0) flags = *data_++, --size_;
  }
  bool next() {
    if (size_ < kBytes || ++count_ > kMax) return false;
    op = data_[0], a = load_le<u16>(data_ + 1), b = load_le<u32>(data_ + 3);
    data_ += kBytes, size_ -= kBytes;
    return true;
  }
  u8 flags = 0, op = 0;
  u16 a = 0;
  u32 b = 0;

 private:
  const u8* data_;
  std::size_t size_, count_ = 0;
};

/// Whatever state a guest brought a device to can be saved, and loaded into another, which is then the same.
/// `Saved` is a device or its transport.
template <class Saved>
void require_same_state(const Saved& device, Saved& other) {
  ByteWriter first;
  device.save(first);
  const std::vector<u8> bytes = first.take();
  ByteReader from(bytes);
  other.load(from);
  require(from.ok() && from.at_end());
  ByteWriter second;
  other.save(second);
  require(second.take() == bytes);
}

/// A machine of one device: remembers its interrupt lines, and nothing is ever scheduled.
class QuietHost : public DeviceHost {
 public:
  GuestMemory& memory() override { return ram_; }
  void set_irq(unsigned line, bool level) override {
    require(line >= 1 && line <= 31);
    lines = level ? lines | 1u << line : lines & ~(1u << line);
  }
  void pulse_irq(unsigned line) override { require(line >= 1 && line <= 31); }
  void schedule(DeviceId, u64, u32) override {}
  u64 now() const override { return 0; }
  void unschedule(DeviceId) override {}
  u32 lines = 0;

 private:
  SoftMemory ram_{pool(), 16};
};

}  // namespace shinken::fuzz
