#pragma once
// 16550A serial port: output leaves at once, input waits in a bounded queue.
// Register layout: National Semiconductor PC16550D data sheet.
#include <deque>
#include <functional>
#include <span>

#include "monitor/devices/device.h"

namespace shinken {

class Uart final : public Device {
 public:
  static constexpr u64 kWindow = 0x100;
  static constexpr std::size_t kMaxInput = 64 * 1024;

  Uart(DeviceHost* host, unsigned irq, std::function<void(u8)> output)
      : host_(host), irq_(irq), output_(std::move(output)) {}

  /// Bytes for the receiver; false, and none taken, if they do not fit.
  bool receive(std::span<const u8> bytes);
  /// Next received byte for the firmware's console, or -1.
  int take();

  bool read(u64 offset, unsigned size, u64* value) override;
  bool write(u64 offset, unsigned size, u64 value) override;
  void save(ByteWriter& to) const override;
  void load(ByteReader& from) override;

 private:
  void update();
  u8 modem_status() const;

  DeviceHost* host_;
  unsigned irq_;
  std::function<void(u8)> output_;
  std::deque<u8> input_;
  u8 ier_ = 0, lcr_ = 0, mcr_ = 0, scratch_ = 0, fifo_ = 0;
  u16 divisor_ = 1;
  bool sent_ = false;  // "transmitter empty" has not been reported since the last byte
};

}  // namespace shinken
