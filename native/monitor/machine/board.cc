#include "monitor/machine/board.h"

#include <algorithm>

#include "monitor/devices/virtio_block.h"
#include "monitor/machine/layout.h"

namespace shinken {
namespace {

DeviceId virtio_id(std::size_t index) {
  return static_cast<DeviceId>(static_cast<std::size_t>(DeviceId::kVirtio0) + index);
}

/// An access to a device, or a call of the firmware, in bytes that could be copied in the same time.
constexpr u64 kAccessWork = 512;
/// The same for dropping all translations: the tables that are cleared, and the walks that fill them again.
constexpr u64 kDropWork = 32 * 1024;
/// Work after which the hart is made to look whether its slice is over.
constexpr u64 kNoticedWork = 1024 * 1024;

bool within(u64 pa, u64 base, u64 window) {
  return pa >= base && pa - base < window;
}

}  // namespace

Board::Board(GuestMemory* memory, BoardListener* listener,
             const std::vector<std::shared_ptr<DiskFile>>& disks)
    : memory_(memory),
      listener_(listener),
      plic_([this](bool level) { hart_->set_external_interrupt(level); }),
      uart_(this, layout::kUartIrq, [this](u8 byte) { console_write({&byte, 1}); }),
      generation_(this, layout::kGenerationIrq) {
  auto console = std::make_unique<VirtioConsole>(
      [this](unsigned port, std::span<const u8> bytes) { take_output(port, bytes); });
  console_ = console.get();
  const auto add = [&](std::unique_ptr<VirtioDevice> device) {
    const std::size_t index = virtio_.size();
    virtio_.push_back(std::make_unique<VirtioMmio>(static_cast<DeviceHost*>(this), virtio_id(index),
                                                   layout::kVirtioIrq + index, std::move(device)));
  };
  add(std::move(console));
  for (const auto& disk : disks) add(std::make_unique<VirtioBlock>(disk));
  auto net =
      std::make_unique<VirtioNet>([this](std::span<const u8> frame) { return listener_->on_packet(frame); });
  net_ = net.get();
  net_slot_ = std::make_unique<VirtioMmio>(static_cast<DeviceHost*>(this), DeviceId::kNet, layout::kNetIrq,
                                           std::move(net));
}

Device* Board::find(u64 pa, u64* offset) {
  if (within(pa, layout::kVirtio, virtio_.size() * layout::kVirtioStride)) {
    *offset = (pa - layout::kVirtio) % layout::kVirtioStride;
    return *offset < VirtioMmio::kWindow ? virtio_[(pa - layout::kVirtio) / layout::kVirtioStride].get()
                                         : nullptr;
  }
  const auto at = [&](u64 base, u64 window, Device& device) -> Device* {
    *offset = pa - base;
    return within(pa, base, window) ? &device : nullptr;
  };
  if (Device* found = at(layout::kPlic, Plic::kWindow, plic_)) return found;
  if (Device* found = at(layout::kUart, Uart::kWindow, uart_)) return found;
  if (Device* found = at(layout::kNet, VirtioMmio::kWindow, *net_slot_)) return found;
  return at(layout::kGenerationId, GenerationId::kWindow, generation_);
}

void Board::charge(u64 bytes) {
  work_ += bytes;
  if (work_ - noticed_work_ < kNoticedWork) return;
  noticed_work_ = work_;
  hart_->request_exit();
}

void Board::on_translations_dropped() {
  charge(kDropWork);
}

void Board::on_code_dropped() {
  charge(kDropWork);
}

bool Board::mmio_read(u64 pa, unsigned size, u64* value) {
  charge(kAccessWork);
  u64 offset;
  Device* device = find(pa, &offset);
  return device != nullptr && device->read(offset, size, value);
}

bool Board::mmio_write(u64 pa, unsigned size, u64 value) {
  charge(kAccessWork);
  u64 offset;
  Device* device = find(pa, &offset);
  return device != nullptr && device->write(offset, size, value);
}

SbiResult Board::sbi_call(u64 extension, u64 function, const u64 args[6]) {
  charge(kAccessWork);
  return shinken::sbi_call(*this, extension, function, args);
}

u64 Board::next_deadline() const {
  const u64 timer = hart_->state().stimecmp;
  return std::min(events_.next_deadline(), timer > now() ? timer : ~u64{0});
}

void Board::run_due_events() {
  DeviceEvent event;
  while (events_.pop_due(now(), &event)) {
    if (event.device == DeviceId::kNet) {
      net_slot_->on_event(event.payload);
      continue;
    }
    const std::size_t index =
        static_cast<std::size_t>(event.device) - static_cast<std::size_t>(DeviceId::kVirtio0);
    if (index < virtio_.size()) virtio_[index]->on_event(event.payload);
  }
}

void Board::schedule(DeviceId device, u64 ticks, u32 payload) {
  events_.add(now() + ticks, device, payload);
  // The hart's present limit may lie beyond the new deadline.
  hart_->request_exit();
}

void Board::console_write(std::span<const u8> bytes) {
  charge(bytes.size());
  console_bytes_.insert(console_bytes_.end(), bytes.begin(), bytes.end());
  if (console_bytes_.size() >= kConsoleBuffer) flush_console();
}

void Board::flush_console() {
  if (console_bytes_.empty()) return;
  listener_->on_console(console_bytes_);
  console_bytes_.clear();
}

void Board::set_timer(u64 deadline) {
  hart_->state().stimecmp = deadline;
  hart_->request_exit();
}

void Board::system_reset(u32 type, u32 reason) {
  reset_asked_ = true;
  reset_ = {type, reason};
  hart_->request_exit();
}

void Board::take_output(unsigned port, std::span<const u8> bytes) {
  if (port == 0) return;
  const bool alive = parsers_[port].push(bytes, [&](const FrameHeader& header, std::span<const u8> payload) {
    listener_->on_frame(port, header, payload);
  });
  if (!alive) hart_->request_exit();
}

void Board::save_parts(ByteWriter& to, const std::function<void(const std::string& name)>& begins) const {
  begins("plic");
  plic_.save(to);
  begins("uart");
  uart_.save(to);
  begins("generation");
  generation_.save(to);
  begins("console");
  to.put<u8>(static_cast<u8>(virtio_.size()));
  for (std::size_t i = 0; i < virtio_.size(); ++i) {
    if (i > 0) begins("disk" + std::to_string(i - 1));
    virtio_[i]->save(to);
  }
  begins("net");
  net_slot_->save(to);
  begins("events");
  events_.save(to);
  begins("frames");
  for (const FrameParser& parser : parsers_) parser.save(to);
  begins("reset");
  to.put<u8>(reset_asked_);
  to.put<u32>(reset_.type);
  to.put<u32>(reset_.reason);
}

void Board::load(ByteReader& from) {
  plic_.load(from);
  uart_.load(from);
  generation_.load(from);
  if (from.get<u8>() != virtio_.size()) return from.fail();
  for (const auto& device : virtio_) device->load(from);
  net_slot_->load(from);
  events_.load(from);
  for (FrameParser& parser : parsers_) parser.load(from);
  reset_asked_ = from.get<u8>() != 0;
  reset_.type = from.get<u32>();
  reset_.reason = from.get<u32>();
}

}  // namespace shinken
