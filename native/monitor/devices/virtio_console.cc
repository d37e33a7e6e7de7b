#include "monitor/devices/virtio_console.h"

#include <algorithm>

namespace shinken {
namespace {

constexpr u64 kFeatureMultiport = 1 << 1;
constexpr u16 kDeviceReady = 0, kDeviceAdd = 1, kPortReady = 3, kPortOpen = 6, kPortName = 7;
constexpr u64 kControlBytes = 8;
constexpr unsigned kControlReceive = 2, kControlTransmit = 3;
constexpr u32 kMaxSavedInput = 32 * 1024 * 1024;
constexpr u32 kMaxSavedControl = 256;
constexpr std::size_t kPiece = 4096;

unsigned receive_queue(unsigned port) {
  return port == 0 ? 0 : 2 * port + 2;
}
unsigned transmit_queue(unsigned port) {
  return receive_queue(port) + 1;
}

}  // namespace

u64 VirtioConsole::features() const {
  return kFeatureMultiport;
}

std::vector<u8> VirtioConsole::config() const {
  ByteWriter out;
  out.put<u16>(80);  // columns and rows: not offered, but present
  out.put<u16>(25);
  out.put<u32>(kPorts);
  out.put<u32>(0);
  return out.take();
}

void VirtioConsole::send(unsigned port, std::span<const u8> bytes) {
  ports_[port].input.insert(ports_[port].input.end(), bytes.begin(), bytes.end());
  deliver(port);
}

void VirtioConsole::notify(unsigned queue) {
  if (queue == kControlReceive) return deliver_control();
  if (queue == kControlTransmit) return take_control();
  const unsigned port = queue < 2 ? 0 : queue / 2 - 1;
  if (queue % 2 == 0) {
    deliver(port);
  } else {
    take_output(port);
  }
}

void VirtioConsole::deliver(unsigned port) {
  PortState& state = ports_[port];
  Virtqueue& queue = transport_->queue(receive_queue(port));
  bool any = false;
  // A chain without room would loop for ever; the queue's size bounds what one call does.
  for (unsigned served = 0; served < kMaxQueueSize && state.open && !state.input.empty(); ++served) {
    Chain chain;
    const Pop pop = queue.pop(transport_->memory(), &chain);
    if (pop == Pop::kBroken) return transport_->fail();
    if (pop == Pop::kNone) break;
    transport_->charge(chain);
    const u64 length = std::min<u64>(state.input.size(), chain.writable_bytes);
    u64 done = 0;
    while (done < length) {
      u8 piece[kPiece];
      const u64 n = std::min<u64>(kPiece, length - done);
      std::copy_n(state.input.begin() + static_cast<std::ptrdiff_t>(done), n, piece);
      write_chain(transport_->memory(), chain, done, {piece, n});
      done += n;
    }
    state.input.erase(state.input.begin(), state.input.begin() + static_cast<std::ptrdiff_t>(length));
    if (!queue.push(transport_->memory(), chain.head, static_cast<u32>(length))) return transport_->fail();
    any = true;
  }
  if (any) transport_->notify_used(receive_queue(port));
}

void VirtioConsole::take_output(unsigned port) {
  Virtqueue& queue = transport_->queue(transmit_queue(port));
  bool any = false;
  std::vector<u8> bytes;
  for (unsigned served = 0; served < kMaxQueueSize; ++served) {
    Chain chain;
    const Pop pop = queue.pop(transport_->memory(), &chain);
    if (pop == Pop::kBroken) return transport_->fail();
    if (pop == Pop::kNone) break;
    transport_->charge(chain);
    if (chain.readable_bytes > kMaxWriteBytes) return transport_->fail();
    bytes.resize(chain.readable_bytes);
    read_chain(transport_->memory(), chain, 0, bytes);
    if (!queue.push(transport_->memory(), chain.head, 0)) return transport_->fail();
    any = true;
    output_(port, bytes);
  }
  if (any) transport_->notify_used(transmit_queue(port));
}

void VirtioConsole::take_control() {
  Virtqueue& queue = transport_->queue(kControlTransmit);
  bool any = false;
  for (unsigned served = 0; served < kMaxQueueSize; ++served) {
    Chain chain;
    const Pop pop = queue.pop(transport_->memory(), &chain);
    if (pop == Pop::kBroken) return transport_->fail();
    if (pop == Pop::kNone) break;
    transport_->charge(chain);
    u8 message[kControlBytes] = {};
    const bool whole = read_chain(transport_->memory(), chain, 0, message) == kControlBytes;
    if (!queue.push(transport_->memory(), chain.head, 0)) return transport_->fail();
    any = true;
    if (!whole) continue;
    const u32 port = load_le<u32>(message);
    const u16 event = load_le<u16>(message + 4), value = load_le<u16>(message + 6);
    if (event == kDeviceReady) {
      if (value == 1) {
        for (u32 p = 1; p < kPorts; ++p) control(p, kDeviceAdd, 1);
      }
    } else if (port == 0 || port >= kPorts) {
      continue;
    } else if (event == kPortReady && value == 1) {
      control(port, kPortName, 1, kPortNames[port]);
      control(port, kPortOpen, 1);
    } else if (event == kPortOpen) {
      ports_[port].open = value != 0;
      deliver(port);
    }
  }
  if (any) transport_->notify_used(kControlTransmit);
  deliver_control();
}

void VirtioConsole::control(u32 port, u16 event, u16 value, const std::string& tail) {
  if (control_.size() >= kMaxControl) return;
  ByteWriter out;
  out.put<u32>(port);
  out.put<u16>(event);
  out.put<u16>(value);
  for (char c : tail) out.put<u8>(static_cast<u8>(c));
  control_.push_back(out.take());
}

void VirtioConsole::deliver_control() {
  Virtqueue& queue = transport_->queue(kControlReceive);
  bool any = false;
  while (!control_.empty()) {
    Chain chain;
    const Pop pop = queue.pop(transport_->memory(), &chain);
    if (pop == Pop::kBroken) return transport_->fail();
    if (pop == Pop::kNone) break;
    transport_->charge(chain);
    const u64 length = write_chain(transport_->memory(), chain, 0, control_.front());
    control_.pop_front();
    if (!queue.push(transport_->memory(), chain.head, static_cast<u32>(length))) return transport_->fail();
    any = true;
  }
  if (any) transport_->notify_used(kControlReceive);
}

void VirtioConsole::reset() {
  // A driver resets the device before it uses it: what the host has sent to a port that nobody opened yet
  // still waits.
  for (PortState& port : ports_) {
    if (port.open) port.input.clear();
    port.open = false;
  }
  control_.clear();
}

void VirtioConsole::save(ByteWriter& to) const {
  for (const PortState& port : ports_) {
    to.put<u8>(port.open);
    to.put_string(std::vector<u8>(port.input.begin(), port.input.end()));
  }
  to.put<u32>(static_cast<u32>(control_.size()));
  for (const std::vector<u8>& message : control_) to.put_string(message);
}

void VirtioConsole::load(ByteReader& from) {
  for (PortState& port : ports_) {
    port.open = from.get<u8>() != 0;
    const std::vector<u8> input = from.get_string(kMaxSavedInput);
    port.input.assign(input.begin(), input.end());
  }
  control_.clear();
  const u32 count = from.get<u32>();
  if (count > kMaxControl) return from.fail();
  for (u32 i = 0; i < count && from.ok(); ++i) control_.push_back(from.get_string(kMaxSavedControl));
}

}  // namespace shinken
