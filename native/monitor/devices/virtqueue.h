#pragma once
// Split virtqueue, device side (Virtual I/O Device 1.2, 2.7). Everything in it was written by the guest:
// indices, links, addresses and lengths are checked before use, and the work of one chain is bounded.
#include <span>
#include <vector>

#include "monitor/base/bytes.h"
#include "monitor/memory/guest_memory.h"

namespace shinken {

inline constexpr u16 kMaxQueueSize = 256;
/// Bytes that one chain may describe; a chain that says more breaks its queue.
inline constexpr u64 kMaxChainBytes = 16 * 1024 * 1024;

/// What it costs to look at a descriptor, in bytes that could be copied in the same time.
inline constexpr u64 kLinkWork = 256;

/// One buffer of a chain, known to lie in RAM.
struct Buffer {
  u64 address;
  u32 length;
};

/// A request: what the device may read, then what it may write.
struct Chain {
  u16 head = 0;
  std::vector<Buffer> readable, writable;
  u64 readable_bytes = 0, writable_bytes = 0;
  u32 links = 0;  // descriptors, empty ones too
};

enum class Pop : u8 { kNone, kChain, kBroken };

class Virtqueue {
 public:
  // Set by the driver through the transport.
  u16 size = 0;
  bool ready = false;
  u64 descriptors = 0, available = 0, used = 0;

  /// Next available chain, left in place until `push`. kBroken: the driver broke a rule; the queue is dead
  /// until reset.
  Pop pop(GuestMemory& memory, Chain* chain);
  /// True if a `pop` would find something.
  bool has_available(GuestMemory& memory) const;
  /// Gives a chain back with `written` bytes in its writable part. False if the used ring is not in RAM.
  bool push(GuestMemory& memory, u16 head, u32 written);
  /// True if the driver wants to be interrupted for used buffers.
  bool wants_interrupt(GuestMemory& memory) const;
  bool broken() const { return broken_; }
  void reset() { *this = Virtqueue(); }

  void save(ByteWriter& to) const;
  void load(ByteReader& from);

 private:
  bool usable() const { return ready && !broken_ && size != 0; }
  Pop fail() {
    broken_ = true;
    return Pop::kBroken;
  }
  u16 next_available_ = 0, next_used_ = 0;
  bool broken_ = false;
};

/// Copies from the readable part of a chain, starting `offset` bytes in; returns the bytes copied.
u64 read_chain(GuestMemory& memory, const Chain& chain, u64 offset, std::span<u8> to);
/// Copies into the writable part, starting `offset` bytes in; returns the bytes copied.
u64 write_chain(GuestMemory& memory, const Chain& chain, u64 offset, std::span<const u8> from);

}  // namespace shinken
