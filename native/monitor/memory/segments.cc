#include "monitor/memory/segments.h"

#include <cstring>

namespace shinken {

bool read_guest(GuestMemory& memory, u64 address, void* to, u64 length) {
  u8* at = static_cast<u8*>(to);
  return for_each_segment(memory, address, length, MemoryAccess::kRead, [&](const u8* host, u64 n) {
    std::memcpy(at, host, n);
    at += n;
  });
}

bool write_guest(GuestMemory& memory, u64 address, const void* from, u64 length) {
  const u8* at = static_cast<const u8*>(from);
  return for_each_segment(memory, address, length, MemoryAccess::kWrite, [&](u8* host, u64 n) {
    std::memcpy(host, at, n);
    at += n;
  });
}

}  // namespace shinken
