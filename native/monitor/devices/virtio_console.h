#pragma once
// virtio console with several ports (Virtual I/O Device 1.2, 5.3). Port 0 exists for the numbering's sake and
// is never announced, so that the guest makes no hvc of it; ports 1 and 2 carry frames.
#include <deque>
#include <functional>
#include <span>
#include <string>

#include "monitor/devices/virtio_device.h"

namespace shinken {

class VirtioConsole final : public VirtioDevice {
 public:
  static constexpr unsigned kPorts = 3;
  static constexpr const char* kPortNames[kPorts] = {"", "org.shinken.agent", "org.shinken.grader"};
  /// Bytes that one write of the guest may carry (its driver cuts at 32 KiB).
  static constexpr u64 kMaxWriteBytes = 128 * 1024;
  /// Control messages that may wait for the guest to offer buffers.
  static constexpr std::size_t kMaxControl = 64;

  /// `output(port, bytes)` gets what the guest writes to a port, in order.
  explicit VirtioConsole(std::function<void(unsigned port, std::span<const u8>)> output)
      : output_(std::move(output)) {}

  /// Queues bytes for a port and delivers what the guest has buffers for, if it opened the port.
  void send(unsigned port, std::span<const u8> bytes);
  std::size_t pending(unsigned port) const { return ports_[port].input.size(); }
  bool open(unsigned port) const { return ports_[port].open; }

  u32 type() const override { return 3; }
  u64 features() const override;
  unsigned queues() const override { return 2 * kPorts + 2; }
  void notify(unsigned queue) override;
  std::vector<u8> config() const override;
  void reset() override;
  void save(ByteWriter& to) const override;
  void load(ByteReader& from) override;

 private:
  struct PortState {
    bool open = false;  // the guest has the port open
    std::deque<u8> input;
  };
  void deliver(unsigned port);
  void take_output(unsigned port);
  void take_control();
  void control(u32 port, u16 event, u16 value, const std::string& tail = {});
  void deliver_control();

  std::function<void(unsigned, std::span<const u8>)> output_;
  PortState ports_[kPorts];
  std::deque<std::vector<u8>> control_;
};

}  // namespace shinken
