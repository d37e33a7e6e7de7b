#pragma once
// Platform-level interrupt controller with one context: hart 0, S-mode.
// Register layout: RISC-V Platform-Level Interrupt Controller Specification 1.0.0.
#include <functional>

#include "monitor/devices/device.h"

namespace shinken {

class Plic final : public Device {
 public:
  static constexpr unsigned kSources = 32;  // source 0 does not exist
  static constexpr u64 kWindow = 0x400000;

  /// `output` is told the level of the hart's external interrupt whenever it may have changed.
  explicit Plic(std::function<void(bool)> output) : output_(std::move(output)) {}

  void set_level(unsigned source, bool level);
  /// One edge: pending until claimed, whatever the line does.
  void pulse(unsigned source);

  bool read(u64 offset, unsigned size, u64* value) override;
  bool write(u64 offset, unsigned size, u64 value) override;
  void save(ByteWriter& to) const override;
  void load(ByteReader& from) override;

 private:
  u32 pending() const { return (level_ & ~claimed_) | latched_; }
  unsigned best() const;
  void update() { output_(best() != 0); }

  std::function<void(bool)> output_;
  u32 priority_[kSources] = {};
  u32 enabled_ = 0;
  u32 threshold_ = 0;
  u32 level_ = 0;    // input lines
  u32 latched_ = 0;  // edges not yet claimed
  u32 claimed_ = 0;  // claimed, completion outstanding
};

}  // namespace shinken
