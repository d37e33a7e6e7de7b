#include "monitor/devices/virtio_block.h"

#include <algorithm>

#include "monitor/memory/segments.h"

namespace shinken {
namespace {

constexpr u64 kFeatureSizeMax = 1 << 1, kFeatureSegMax = 1 << 2, kFeatureReadOnly = 1 << 5,
              kFeatureFlush = 1 << 9;
constexpr u32 kRequestIn = 0, kRequestOut = 1, kRequestFlush = 4, kRequestIdentity = 8;
constexpr u8 kStatusOk = 0, kStatusError = 1, kStatusUnsupported = 2;
constexpr u64 kHeaderBytes = 16, kIdentityBytes = 20;

}  // namespace

u64 VirtioBlock::features() const {
  return kFeatureSizeMax | kFeatureSegMax | (disk_->writable() ? kFeatureFlush : kFeatureReadOnly);
}

std::vector<u8> VirtioBlock::config() const {
  ByteWriter out;
  out.put<u64>(disk_->size() / kSectorBytes);
  out.put<u32>(kMaxSegmentBytes);
  out.put<u32>(kMaxSegments);
  return out.take();
}

void VirtioBlock::notify(unsigned) {
  if (scheduled_) return;
  scheduled_ = true;
  transport_->schedule(kLatencyTicks, 0);
}

void VirtioBlock::on_event(u32) {
  scheduled_ = false;
  Virtqueue& queue = transport_->queue(0);
  u64 moved = 0;
  bool any = false;
  for (unsigned served = 0; served < kMaxQueueSize && moved < kMaxBytesPerEvent; ++served) {
    Chain chain;
    const Pop pop = queue.pop(transport_->memory(), &chain);
    if (pop == Pop::kBroken) return transport_->fail();
    if (pop == Pop::kNone) break;
    transport_->charge(chain);
    moved += chain.readable_bytes + chain.writable_bytes;
    if (!queue.push(transport_->memory(), chain.head, serve(chain))) return transport_->fail();
    any = true;
  }
  if (any) transport_->notify_used(0);
  if (queue.has_available(transport_->memory())) notify(0);
}

u32 VirtioBlock::serve(const Chain& chain) {
  GuestMemory& memory = transport_->memory();
  u8 header[kHeaderBytes];
  // Without room for a status there is nobody to tell.
  if (chain.writable_bytes == 0) return 0;
  u8 status = kStatusError;
  u64 written = 0;
  if (read_chain(memory, chain, 0, header) == kHeaderBytes) {
    const u32 type = load_le<u32>(header);
    const u64 sector = load_le<u64>(header + 8);
    const u64 length = type == kRequestIn ? chain.writable_bytes - 1 : chain.readable_bytes - kHeaderBytes;
    const u64 sectors = disk_->size() / kSectorBytes;
    const bool inside =
        length % kSectorBytes == 0 && sector <= sectors && length / kSectorBytes <= sectors - sector;
    if (type == kRequestIn) {
      if (inside) status = transfer_in(chain, sector * kSectorBytes, length);
      if (status == kStatusOk) written = length;
    } else if (type == kRequestOut) {
      if (inside && disk_->writable()) status = transfer_out(chain, sector * kSectorBytes, length);
    } else if (type == kRequestFlush) {
      status = disk_->flush() ? kStatusOk : kStatusError;
    } else if (type == kRequestIdentity) {
      u8 text[kIdentityBytes] = {};
      std::copy_n(disk_->identity().begin(), std::min<u64>(kIdentityBytes, disk_->identity().size()), text);
      written = write_chain(memory, chain, 0, {text, std::min(kIdentityBytes, chain.writable_bytes - 1)});
      status = kStatusOk;
    } else {
      status = kStatusUnsupported;
    }
  }
  write_chain(memory, chain, chain.writable_bytes - 1, {&status, 1});
  return static_cast<u32>(written + 1);
}

u8 VirtioBlock::transfer_in(const Chain& chain, u64 offset, u64 length) {
  bool ok = true;
  for (const Buffer& buffer : chain.writable) {
    const u64 wanted = std::min<u64>(buffer.length, length);
    for_each_segment(transport_->memory(), buffer.address, wanted, MemoryAccess::kWrite,
                     [&](u8* host, u64 n) {
                       ok = ok && disk_->read(offset, {host, n});
                       offset += n;
                     });
    length -= wanted;
  }
  return ok ? kStatusOk : kStatusError;
}

u8 VirtioBlock::transfer_out(const Chain& chain, u64 offset, u64 length) {
  std::vector<u8> piece(std::min<u64>(length, kMaxSegmentBytes));
  for (u64 done = 0; done < length;) {
    const u64 n = std::min<u64>(piece.size(), length - done);
    read_chain(transport_->memory(), chain, kHeaderBytes + done, {piece.data(), n});
    if (!disk_->write(offset + done, {piece.data(), n})) return kStatusError;
    done += n;
  }
  return kStatusOk;
}

}  // namespace shinken
