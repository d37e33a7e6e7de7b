#include "monitor/devices/virtio_mmio.h"

namespace shinken {
namespace {

enum Register : u64 {
  kMagic = 0x00,
  kVersion = 0x04,
  kDeviceType = 0x08,
  kVendor = 0x0c,
  kDeviceFeatures = 0x10,
  kDeviceFeaturesSelect = 0x14,
  kDriverFeatures = 0x20,
  kDriverFeaturesSelect = 0x24,
  kQueueSelect = 0x30,
  kQueueSizeMax = 0x34,
  kQueueSize = 0x38,
  kQueueReady = 0x44,
  kQueueNotify = 0x50,
  kInterruptStatus = 0x60,
  kInterruptAck = 0x64,
  kStatus = 0x70,
  kQueueDescriptorsLow = 0x80,
  kQueueDescriptorsHigh = 0x84,
  kQueueAvailableLow = 0x90,
  kQueueAvailableHigh = 0x94,
  kQueueUsedLow = 0xa0,
  kQueueUsedHigh = 0xa4,
  kConfigGeneration = 0xfc,
  kConfig = 0x100,
};

constexpr u32 kStatusDriverOk = 4, kStatusFeaturesOk = 8, kStatusNeedsReset = 64, kStatusFailed = 128;
constexpr u32 kInterruptUsed = 1, kInterruptConfig = 2;
constexpr u64 kVersion1 = u64{1} << 32;

u64 set_low(u64 whole, u32 half) {
  return (whole & ~u64{0xffffffff}) | half;
}
u64 set_high(u64 whole, u32 half) {
  return (whole & 0xffffffff) | u64{half} << 32;
}

}  // namespace

VirtioMmio::VirtioMmio(DeviceHost* host, DeviceId id, unsigned irq, std::unique_ptr<VirtioDevice> device)
    : host_(host), id_(id), irq_(irq), device_(std::move(device)) {
  device_->attach(this);
}

u64 VirtioMmio::offered() const {
  return device_->features() | kVersion1;
}

bool VirtioMmio::live() const {
  return (status_ & kStatusDriverOk) != 0 && (status_ & (kStatusNeedsReset | kStatusFailed)) == 0;
}

bool VirtioMmio::read(u64 offset, unsigned size, u64* value) {
  *value = 0;
  if (offset >= kConfig) {
    const std::vector<u8> config = device_->config();
    for (unsigned i = 0; i < size; ++i) {
      const u64 at = offset - kConfig + i;
      if (at < config.size()) *value |= u64{config[at]} << (8 * i);
    }
    return true;
  }
  if (size != 4 || offset % 4 != 0) return false;
  *value = read_register(offset);
  return true;
}

u32 VirtioMmio::read_register(u64 offset) const {
  const bool known = queue_select_ < device_->queues();
  switch (offset) {
    case kMagic:
      return 0x74726976;  // "virt"
    case kVersion:
      return 2;
    case kDeviceType:
      return device_->type();
    case kVendor:
      return 0x4b4e4853;
    case kDeviceFeatures:
      return features_select_ > 1 ? 0 : static_cast<u32>(offered() >> (32 * features_select_));
    case kQueueSizeMax:
      return known ? device_->queue_size() : 0;
    case kQueueReady:
      return known && queues_[queue_select_].ready;
    case kInterruptStatus:
      return interrupt_;
    case kStatus:
      return status_;
    case kConfigGeneration:
      return config_generation_;
    default:
      return 0;
  }
}

bool VirtioMmio::write(u64 offset, unsigned size, u64 value) {
  if (offset >= kConfig) return true;  // no device of ours has a writable field that matters
  if (size != 4 || offset % 4 != 0) return false;
  write_register(offset, static_cast<u32>(value));
  return true;
}

void VirtioMmio::write_register(u64 offset, u32 value) {
  switch (offset) {
    case kDeviceFeaturesSelect:
      features_select_ = value;
      return;
    case kDriverFeaturesSelect:
      driver_select_ = value;
      return;
    case kDriverFeatures:
      if ((status_ & kStatusFeaturesOk) != 0) return;
      if (driver_select_ == 0) driver_features_ = set_low(driver_features_, value);
      if (driver_select_ == 1) driver_features_ = set_high(driver_features_, value);
      return;
    case kQueueSelect:
      queue_select_ = value;
      return;
    case kQueueNotify:
      if (value < device_->queues() && live()) device_->notify(value);
      return;
    case kInterruptAck:
      interrupt_ &= ~value;
      update();
      return;
    case kStatus:
      set_status(value);
      return;
    default:
      break;
  }
  // What follows belongs to the selected queue, and is fixed while it is ready.
  if (queue_select_ >= device_->queues()) return;
  Virtqueue& queue = queues_[queue_select_];
  if (offset == kQueueReady) {
    if (value == 0) {
      queue.reset();
    } else if (queue.size != 0) {
      queue.ready = true;
    }
    return;
  }
  if (queue.ready) return;
  switch (offset) {
    case kQueueSize:
      if (value <= device_->queue_size() && (value & (value - 1)) == 0) queue.size = static_cast<u16>(value);
      return;
    case kQueueDescriptorsLow:
      queue.descriptors = set_low(queue.descriptors, value);
      return;
    case kQueueDescriptorsHigh:
      queue.descriptors = set_high(queue.descriptors, value);
      return;
    case kQueueAvailableLow:
      queue.available = set_low(queue.available, value);
      return;
    case kQueueAvailableHigh:
      queue.available = set_high(queue.available, value);
      return;
    case kQueueUsedLow:
      queue.used = set_low(queue.used, value);
      return;
    case kQueueUsedHigh:
      queue.used = set_high(queue.used, value);
      return;
    default:
      return;
  }
}

void VirtioMmio::set_status(u32 value) {
  if (value == 0) return reset();
  const u32 needs_reset = status_ & kStatusNeedsReset;
  // Features that were not offered are not accepted: the bit stays clear, and the driver gives up.
  const bool acceptable = (driver_features_ & ~offered()) == 0 && (driver_features_ & kVersion1) != 0;
  if ((value & kStatusFeaturesOk) != 0 && !acceptable) value &= ~kStatusFeaturesOk;
  status_ = (value & 0xff) | needs_reset;
}

void VirtioMmio::reset() {
  status_ = interrupt_ = 0;
  features_select_ = driver_select_ = queue_select_ = 0;
  driver_features_ = 0;
  for (Virtqueue& queue : queues_) queue.reset();
  host_->unschedule(id_);
  device_->reset();
  update();
}

void VirtioMmio::notify_used(unsigned index) {
  if (!queues_[index].wants_interrupt(memory())) return;
  interrupt_ |= kInterruptUsed;
  update();
}

void VirtioMmio::fail() {
  status_ |= kStatusNeedsReset;
  interrupt_ |= kInterruptConfig;
  update();
}

void VirtioMmio::config_changed(bool interrupt) {
  ++config_generation_;
  if (!interrupt || !live()) return;
  interrupt_ |= kInterruptConfig;
  update();
}

void VirtioMmio::on_event(u32 payload) {
  if (live()) device_->on_event(payload);
}

void VirtioMmio::save(ByteWriter& to) const {
  for (u32 word :
       {status_, interrupt_, features_select_, driver_select_, queue_select_, config_generation_}) {
    to.put<u32>(word);
  }
  to.put<u64>(driver_features_);
  for (unsigned i = 0; i < device_->queues(); ++i) queues_[i].save(to);
  device_->save(to);
}

void VirtioMmio::load(ByteReader& from) {
  for (u32* word :
       {&status_, &interrupt_, &features_select_, &driver_select_, &queue_select_, &config_generation_}) {
    *word = from.get<u32>();
  }
  driver_features_ = from.get<u64>();
  for (unsigned i = 0; i < device_->queues(); ++i) queues_[i].load(from);
  device_->load(from);
}

}  // namespace shinken
