#pragma once
// The devices of one machine, wired together: what the hart sees as its bus.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "monitor/cpu/bus.h"
#include "monitor/cpu/hart.h"
#include "monitor/devices/disk_file.h"
#include "monitor/devices/event_queue.h"
#include "monitor/devices/frame.h"
#include "monitor/devices/generation_id.h"
#include "monitor/devices/plic.h"
#include "monitor/devices/sbi.h"
#include "monitor/devices/uart.h"
#include "monitor/devices/virtio_console.h"
#include "monitor/devices/virtio_mmio.h"
#include "monitor/devices/virtio_net.h"

namespace shinken {

/// Told what leaves the board, on the thread that runs the machine, in the middle of a hart's run.
class BoardListener {
 public:
  virtual ~BoardListener() = default;
  virtual void on_console(std::span<const u8> bytes) = 0;
  virtual void on_frame(unsigned port, const FrameHeader& header, std::span<const u8> payload) = 0;
  /// A frame left the network card; false if nobody takes it.
  virtual bool on_packet(std::span<const u8> frame) = 0;
};

struct ResetRequest {
  u32 type, reason;
};

class Board final : public Bus, private DeviceHost, private SbiHost {
 public:
  static constexpr std::size_t kConsoleBuffer = 4096;
  /// Bytes that a host copies in about the time in which it executes an instruction of the guest.
  static constexpr u64 kWorkPerInstruction = 16;

  Board(GuestMemory* memory, BoardListener* listener, const std::vector<std::shared_ptr<DiskFile>>& disks);
  /// Must be called before anything runs; the hart must outlive the board's use.
  void attach(Hart* hart) { hart_ = hart; }

  // Bus
  bool mmio_read(u64 pa, unsigned size, u64* value) override;
  bool mmio_write(u64 pa, unsigned size, u64 value) override;
  SbiResult sbi_call(u64 extension, u64 function, const u64 args[6]) override;
  void on_timer_changed() override { hart_->request_exit(); }
  void on_translations_dropped() override;
  void on_code_dropped() override;

  /// Guest time in ticks.
  u64 now() const override { return hart_->state().instret + hart_->state().skipped; }
  /// First moment after now at which something happens by itself: a device event or the timer; ~0 if nothing
  /// will.
  u64 next_deadline() const;
  /// True if a device event is due.
  bool event_due() const { return events_.next_deadline() <= now(); }
  /// Lets every due device event happen.
  void run_due_events();

  /// What was done for the guest beside its instructions, in instructions. Host state: in no digest.
  u64 work() const { return work_ / kWorkPerInstruction; }

  VirtioConsole& console() { return *console_; }
  const VirtioConsole& console() const { return *console_; }
  Uart& uart() { return uart_; }
  GenerationId& generation() { return generation_; }
  VirtioNet& net() { return *net_; }
  /// Set once the guest asked for a reset; the machine is over.
  const ResetRequest* reset_request() const { return reset_asked_ ? &reset_ : nullptr; }
  /// The parser of a port, dead after a protocol failure.
  const FrameParser& parser(unsigned port) const { return parsers_[port]; }
  /// Hands gathered console bytes to the listener.
  void flush_console();

  void save(ByteWriter& to) const {
    save_parts(to, [](const std::string&) {});
  }
  /// As `save`; `begins(name)` is called before the bytes of each device.
  void save_parts(ByteWriter& to, const std::function<void(const std::string& name)>& begins) const;
  void load(ByteReader& from);

 private:
  Device* find(u64 pa, u64* offset);
  // DeviceHost
  GuestMemory& memory() override { return *memory_; }
  void set_irq(unsigned line, bool level) override { plic_.set_level(line, level); }
  void pulse_irq(unsigned line) override { plic_.pulse(line); }
  void schedule(DeviceId device, u64 ticks, u32 payload) override;
  void unschedule(DeviceId device) override { events_.remove(device); }
  void charge(u64 bytes) override;
  // SbiHost
  void console_write(std::span<const u8> bytes) override;
  int console_read() override { return uart_.take(); }
  void set_timer(u64 deadline) override;
  void system_reset(u32 type, u32 reason) override;
  void take_output(unsigned port, std::span<const u8> bytes);

  GuestMemory* memory_;
  BoardListener* listener_;
  Hart* hart_ = nullptr;
  Plic plic_;
  Uart uart_;
  GenerationId generation_;
  VirtioConsole* console_;
  std::vector<std::unique_ptr<VirtioMmio>> virtio_;  // console, then the disks
  VirtioNet* net_;
  std::unique_ptr<VirtioMmio> net_slot_;
  EventQueue events_;
  std::array<FrameParser, VirtioConsole::kPorts> parsers_;
  std::vector<u8> console_bytes_;
  u64 work_ = 0, noticed_work_ = 0;  // in bytes
  bool reset_asked_ = false;
  ResetRequest reset_{};
};

}  // namespace shinken
