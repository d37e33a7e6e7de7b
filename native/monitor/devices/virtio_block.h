#pragma once
// virtio block device (Virtual I/O Device 1.2, 5.2) over a DiskFile.
#include <memory>

#include "monitor/devices/disk_file.h"
#include "monitor/devices/virtio_device.h"

namespace shinken {

class VirtioBlock final : public VirtioDevice {
 public:
  /// Guest time from a notification to the completion of what it announced. Part of machine_abi.
  static constexpr u64 kLatencyTicks = 1000;
  /// Bytes moved in one go; a driver that queues more gets the rest one latency later.
  static constexpr u64 kMaxBytesPerEvent = 32 * 1024 * 1024;
  /// Buffers a driver may put into one request besides header and status.
  static constexpr u32 kMaxSegments = kMaxQueueSize - 2;
  static constexpr u32 kMaxSegmentBytes = 64 * 1024;

  explicit VirtioBlock(std::shared_ptr<DiskFile> disk) : disk_(std::move(disk)) {}

  u32 type() const override { return 2; }
  u64 features() const override;
  unsigned queues() const override { return 1; }
  void notify(unsigned queue) override;
  void on_event(u32 payload) override;
  std::vector<u8> config() const override;
  void reset() override { scheduled_ = false; }
  void save(ByteWriter& to) const override { to.put<u8>(scheduled_); }
  void load(ByteReader& from) override { scheduled_ = from.get<u8>() != 0; }

 private:
  /// Serves one request; returns the bytes written into it, status included.
  u32 serve(const Chain& chain);
  u8 transfer_in(const Chain& chain, u64 offset, u64 length);
  u8 transfer_out(const Chain& chain, u64 offset, u64 length);

  std::shared_ptr<DiskFile> disk_;
  bool scheduled_ = false;
};

}  // namespace shinken
