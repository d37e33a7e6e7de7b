#pragma once
// virtio network card (Virtual I/O Device 1.2, 5.1): one queue pair, no offloads, a link that goes up and
// down.
//
// Of itself it reaches nobody: a frame goes to the host's `send`, which says whether somebody took it.
#include <array>
#include <deque>
#include <functional>
#include <span>

#include "monitor/devices/virtio_device.h"

namespace shinken {

using MacAddress = std::array<u8, 6>;

/// Frames and their bytes (without the virtio header) since the machine was made. Host state: no part of a
/// digest.
struct NetCounters {
  u64 sent_frames = 0, sent_bytes = 0;          // taken by somebody
  u64 dropped_frames = 0, dropped_bytes = 0;    // left the guest for nowhere
  u64 received_frames = 0, received_bytes = 0;  // handed to the guest
  u64 refused_frames = 0;  // arrived with the link down, too long, or with no room to wait
};

class VirtioNet final : public VirtioDevice {
 public:
  static constexpr unsigned kReceiveQueue = 0, kTransmitQueue = 1;
  /// Entries of each queue: what the guest's driver fills with receive buffers, and so keeps in every golden.
  static constexpr u16 kQueueSize = 64;
  /// Guest time from a notification to the transmission of what it announced. Part of machine_abi.
  static constexpr u64 kLatencyTicks = 1000;
  /// The header before each frame, all zeros without offloads.
  static constexpr u64 kHeaderBytes = 12;
  /// An Ethernet header, and with it the largest payload. Other frames are dropped.
  static constexpr u64 kMinFrameBytes = 14, kMaxFrameBytes = 14 + 1500;
  /// Frames that may wait for their moment, or for a buffer of the guest.
  static constexpr std::size_t kMaxWaiting = 256;

  /// `send(frame)` gets what leaves the guest, in order; false: nobody took it.
  explicit VirtioNet(std::function<bool(std::span<const u8>)> send) : send_(std::move(send)) {}

  const MacAddress& mac() const { return mac_; }
  /// Takes effect in the guest when its driver starts or its agent is told: no driver looks again by itself.
  void set_mac(const MacAddress& mac);
  bool link() const { return link_; }
  /// Plugs the cable in or pulls it out; the guest is interrupted if that changes anything.
  void set_link(bool up);
  /// A frame for the guest, which sees it at `when` (guest ticks), or now if that is past.
  void receive(u64 when, std::span<const u8> frame);
  const NetCounters& counters() const { return counters_; }

  u32 type() const override { return 1; }
  u64 features() const override;
  unsigned queues() const override { return 2; }
  u16 queue_size() const override { return kQueueSize; }
  void notify(unsigned queue) override;
  void on_event(u32 payload) override;
  std::vector<u8> config() const override;
  void reset() override;
  void save(ByteWriter& to) const override;
  void load(ByteReader& from) override;

 private:
  struct Waiting {
    u64 when;
    std::vector<u8> frame;
  };
  void transmit();
  void take(const Chain& chain);
  void deliver();
  void schedule_delivery();

  std::function<bool(std::span<const u8>)> send_;
  MacAddress mac_{};
  bool link_ = true;
  bool transmit_scheduled_ = false;
  u64 delivery_at_ = ~u64{0};    // the next scheduled delivery
  std::deque<Waiting> waiting_;  // by their moment, equal ones in the order of arrival
  NetCounters counters_;
};

}  // namespace shinken
