#include "monitor/devices/virtio_net.h"

#include <algorithm>

namespace shinken {
namespace {

constexpr u64 kFeatureMac = 1 << 5, kFeatureStatus = 1 << 16;
constexpr u16 kStatusLinkUp = 1;
constexpr u32 kEventTransmit = 0, kEventDeliver = 1;
constexpr u64 kNever = ~u64{0};

}  // namespace

u64 VirtioNet::features() const {
  return kFeatureMac | kFeatureStatus;
}

std::vector<u8> VirtioNet::config() const {
  ByteWriter out;
  out.put_bytes(mac_);
  out.put<u16>(link_ ? kStatusLinkUp : 0);
  return out.take();
}

void VirtioNet::set_mac(const MacAddress& mac) {
  mac_ = mac;
  transport_->config_changed(false);
}

void VirtioNet::set_link(bool up) {
  if (link_ == up) return;
  link_ = up;
  transport_->config_changed(true);
}

void VirtioNet::notify(unsigned queue) {
  if (queue == kReceiveQueue) return deliver();
  if (transmit_scheduled_) return;
  transmit_scheduled_ = true;
  transport_->schedule(kLatencyTicks, kEventTransmit);
}

void VirtioNet::on_event(u32 payload) {
  if (payload == kEventTransmit) return transmit();
  // An event that was overtaken by an earlier one finds nothing to do.
  if (delivery_at_ <= transport_->now()) delivery_at_ = kNever;
  deliver();
}

void VirtioNet::transmit() {
  transmit_scheduled_ = false;
  Virtqueue& queue = transport_->queue(kTransmitQueue);
  bool any = false;
  for (unsigned served = 0; served < kQueueSize; ++served) {
    Chain chain;
    const Pop pop = queue.pop(transport_->memory(), &chain);
    if (pop == Pop::kBroken || (pop == Pop::kChain && chain.readable_bytes < kHeaderBytes)) {
      return transport_->fail();
    }
    if (pop == Pop::kNone) break;
    transport_->charge(chain);
    take(chain);
    if (!queue.push(transport_->memory(), chain.head, 0)) return transport_->fail();
    any = true;
  }
  if (any) transport_->notify_used(kTransmitQueue);
  if (queue.has_available(transport_->memory())) notify(kTransmitQueue);
}

/// Hands the frame of a chain to the host. Its header says nothing, since no offload was offered.
void VirtioNet::take(const Chain& chain) {
  const u64 length = chain.readable_bytes - kHeaderBytes;
  bool taken = false;
  if (link_ && length >= kMinFrameBytes && length <= kMaxFrameBytes) {
    u8 frame[kMaxFrameBytes];
    read_chain(transport_->memory(), chain, kHeaderBytes, {frame, length});
    taken = send_({frame, length});
  }
  ++(taken ? counters_.sent_frames : counters_.dropped_frames);
  (taken ? counters_.sent_bytes : counters_.dropped_bytes) += length;
}

void VirtioNet::receive(u64 when, std::span<const u8> frame) {
  if (!link_ || frame.size() < kMinFrameBytes || frame.size() > kMaxFrameBytes ||
      waiting_.size() >= kMaxWaiting) {
    ++counters_.refused_frames;
    return;
  }
  const auto later = [](u64 moment, const Waiting& other) { return moment < other.when; };
  waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), when, later),
                  {when, {frame.begin(), frame.end()}});
  schedule_delivery();
}

void VirtioNet::schedule_delivery() {
  if (waiting_.empty() || waiting_.front().when >= delivery_at_) return;
  const u64 now = transport_->now();
  delivery_at_ = std::max(waiting_.front().when, now);
  transport_->schedule(delivery_at_ - now, kEventDeliver);
}

/// Gives the guest the frames whose moment has come, as far as it has buffers; its next notification goes on.
void VirtioNet::deliver() {
  Virtqueue& queue = transport_->queue(kReceiveQueue);
  const u64 now = transport_->now();
  bool any = false;
  while (!waiting_.empty() && waiting_.front().when <= now) {
    Chain chain;
    const Pop pop = queue.pop(transport_->memory(), &chain);
    const std::vector<u8>& frame = waiting_.front().frame;
    // The driver owes buffers for the largest frame.
    if (pop == Pop::kBroken || (pop == Pop::kChain && chain.writable_bytes < kHeaderBytes + kMaxFrameBytes)) {
      return transport_->fail();
    }
    if (pop == Pop::kNone) break;
    transport_->charge(chain);
    u8 header[kHeaderBytes] = {};
    header[kHeaderBytes - 2] = 1;  // num_buffers
    write_chain(transport_->memory(), chain, 0, header);
    write_chain(transport_->memory(), chain, kHeaderBytes, frame);
    const u32 written = static_cast<u32>(kHeaderBytes + frame.size());
    if (!queue.push(transport_->memory(), chain.head, written)) return transport_->fail();
    ++counters_.received_frames;
    counters_.received_bytes += frame.size();
    waiting_.pop_front();
    any = true;
  }
  if (any) transport_->notify_used(kReceiveQueue);
  if (!waiting_.empty() && waiting_.front().when > now) schedule_delivery();
}

void VirtioNet::reset() {
  transmit_scheduled_ = false;
  delivery_at_ = kNever;
  waiting_.clear();
}

void VirtioNet::save(ByteWriter& to) const {
  to.put_bytes(mac_);
  to.put<u8>(link_);
  to.put<u8>(transmit_scheduled_);
  to.put<u64>(delivery_at_);
  to.put<u32>(static_cast<u32>(waiting_.size()));
  for (const Waiting& one : waiting_) {
    to.put<u64>(one.when);
    to.put_string(one.frame);
  }
}

void VirtioNet::load(ByteReader& from) {
  from.get_bytes(mac_);
  link_ = from.get<u8>() != 0;
  transmit_scheduled_ = from.get<u8>() != 0;
  delivery_at_ = from.get<u64>();
  waiting_.clear();
  const u32 count = from.get<u32>();
  if (count > kMaxWaiting) return from.fail();
  u64 last = 0;
  for (u32 i = 0; i < count && from.ok(); ++i) {
    const u64 when = from.get<u64>();
    std::vector<u8> frame = from.get_string(kMaxFrameBytes);
    if (when < last || frame.size() < kMinFrameBytes) return from.fail();
    last = when;
    waiting_.push_back({when, std::move(frame)});
  }
}

}  // namespace shinken
