#pragma once
// VM generation ID: sixteen bytes that change when the machine is forked. Device tree binding
// microsoft,vmgenid.
#include <array>

#include "monitor/devices/device.h"

namespace shinken {

class GenerationId final : public Device {
 public:
  static constexpr u64 kWindow = 16;
  GenerationId(DeviceHost* host, unsigned irq) : host_(host), irq_(irq) {}

  const std::array<u8, 16>& id() const { return id_; }
  void set(const std::array<u8, 16>& id) { id_ = id; }
  /// Sets a new value and interrupts the guest, whose kernel then rekeys its random generator.
  void renew(const std::array<u8, 16>& id) {
    id_ = id;
    host_->pulse_irq(irq_);
  }

  bool read(u64 offset, unsigned size, u64* value) override {
    if (offset > kWindow - size) return false;
    *value = 0;
    for (unsigned i = 0; i < size; ++i) *value |= u64{id_[offset + i]} << (8 * i);
    return true;
  }
  bool write(u64, unsigned, u64) override { return false; }
  void save(ByteWriter& to) const override { to.put_bytes(id_); }
  void load(ByteReader& from) override { from.get_bytes(id_); }

 private:
  DeviceHost* host_;
  unsigned irq_;
  std::array<u8, 16> id_{};
};

}  // namespace shinken
