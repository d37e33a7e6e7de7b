#include "monitor/devices/virtqueue.h"

#include <algorithm>

#include "monitor/memory/segments.h"

namespace shinken {
namespace {

constexpr u16 kNext = 1, kWrite = 2;
constexpr u16 kNoInterrupt = 1;
constexpr u64 kDescriptorBytes = 16;

bool read_u16(GuestMemory& memory, u64 address, u16* value) {
  u8 bytes[2];
  if (!read_guest(memory, address, bytes, 2)) return false;
  *value = load_le<u16>(bytes);
  return true;
}

bool write_u16(GuestMemory& memory, u64 address, u16 value) {
  u8 bytes[2];
  store_le(bytes, value);
  return write_guest(memory, address, bytes, 2);
}

/// Calls `visit(address, length)` for the pieces of [offset, offset+wanted) of a list of buffers.
template <typename Visit>
void walk(const std::vector<Buffer>& buffers, u64 offset, u64 wanted, Visit&& visit) {
  for (const Buffer& buffer : buffers) {
    if (wanted == 0) return;
    if (offset >= buffer.length) {
      offset -= buffer.length;
      continue;
    }
    const u64 piece = std::min(wanted, buffer.length - offset);
    visit(buffer.address + offset, piece);
    offset = 0;
    wanted -= piece;
  }
}

}  // namespace

bool Virtqueue::has_available(GuestMemory& memory) const {
  u16 index;
  return usable() && read_u16(memory, available + 2, &index) && index != next_available_;
}

Pop Virtqueue::pop(GuestMemory& memory, Chain* chain) {
  if (!usable()) return Pop::kNone;
  u16 index;
  if (!read_u16(memory, available + 2, &index)) return fail();
  const u16 waiting = static_cast<u16>(index - next_available_);
  if (waiting == 0) return Pop::kNone;
  if (waiting > size) return fail();
  u16 head;
  if (!read_u16(memory, available + 4 + 2 * u64{static_cast<u16>(next_available_ % size)}, &head))
    return fail();

  *chain = Chain();
  chain->head = head;
  u16 at = head;
  // A chain has at most `size` links: one more means a loop.
  for (u16 links = 0;; ++links) {
    if (links == size || at >= size) return fail();
    ++chain->links;
    u8 raw[kDescriptorBytes];
    if (!read_guest(memory, descriptors + kDescriptorBytes * at, raw, sizeof raw)) return fail();
    const Buffer buffer{load_le<u64>(raw), load_le<u32>(raw + 8)};
    const u16 flags = load_le<u16>(raw + 12);
    if ((flags & ~(kNext | kWrite)) != 0) return fail();  // indirect tables were not offered
    if (buffer.length != 0) {
      if (!memory.contains(buffer.address, buffer.length)) return fail();
      const bool write = (flags & kWrite) != 0;
      if (!write && !chain->writable.empty()) return fail();
      (write ? chain->writable : chain->readable).push_back(buffer);
      (write ? chain->writable_bytes : chain->readable_bytes) += buffer.length;
      if (chain->readable_bytes + chain->writable_bytes > kMaxChainBytes) return fail();
    }
    if ((flags & kNext) == 0) break;
    at = load_le<u16>(raw + 14);
  }
  ++next_available_;
  return Pop::kChain;
}

bool Virtqueue::push(GuestMemory& memory, u16 head, u32 written) {
  u8 element[8];
  store_le<u32>(element, head);
  store_le<u32>(element + 4, written);
  const u64 slot = used + 4 + 8 * u64{static_cast<u16>(next_used_ % size)};
  ++next_used_;
  if (write_guest(memory, slot, element, sizeof element) && write_u16(memory, used + 2, next_used_))
    return true;
  broken_ = true;
  return false;
}

bool Virtqueue::wants_interrupt(GuestMemory& memory) const {
  u16 flags;
  return usable() && read_u16(memory, available, &flags) && (flags & kNoInterrupt) == 0;
}

void Virtqueue::save(ByteWriter& to) const {
  to.put<u16>(size);
  to.put<u8>(ready);
  to.put<u8>(broken_);
  to.put<u64>(descriptors);
  to.put<u64>(available);
  to.put<u64>(used);
  to.put<u16>(next_available_);
  to.put<u16>(next_used_);
}

void Virtqueue::load(ByteReader& from) {
  size = from.get<u16>();
  ready = from.get<u8>() != 0;
  broken_ = from.get<u8>() != 0;
  descriptors = from.get<u64>();
  available = from.get<u64>();
  used = from.get<u64>();
  next_available_ = from.get<u16>();
  next_used_ = from.get<u16>();
  if (size > kMaxQueueSize || (size & (size - 1)) != 0 || (ready && size == 0)) from.fail();
}

u64 read_chain(GuestMemory& memory, const Chain& chain, u64 offset, std::span<u8> to) {
  u64 done = 0;
  walk(chain.readable, offset, to.size(), [&](u64 address, u64 length) {
    read_guest(memory, address, to.data() + done, length);
    done += length;
  });
  return done;
}

u64 write_chain(GuestMemory& memory, const Chain& chain, u64 offset, std::span<const u8> from) {
  u64 done = 0;
  walk(chain.writable, offset, from.size(), [&](u64 address, u64 length) {
    write_guest(memory, address, from.data() + done, length);
    done += length;
  });
  return done;
}

}  // namespace shinken
