#pragma once
// How devices reach guest RAM: piece by piece, bounded, never assuming that pages lie side by side.
#include <algorithm>

#include "monitor/memory/guest_memory.h"

namespace shinken {

enum class MemoryAccess : u8 { kRead, kWrite };

/// Calls `visit(u8* host, u64 length)` for each piece of [address, address+length) in order; pieces do not
/// cross pages. False, and no call, if the range is not wholly RAM. With kRead the bytes must not be written.
template <typename Visit>
bool for_each_segment(GuestMemory& memory, u64 address, u64 length, MemoryAccess access, Visit&& visit) {
  if (!memory.contains(address, length)) return false;
  u64 offset = address - kRamBase;
  while (length > 0) {
    const u64 page = offset >> kPageShift, within = offset & kPageMask;
    const u64 piece = std::min(length, kPageSize - within);
    // SAFETY: kRead callers get a mutable pointer for one signature's sake and only read.
    u8* host = access == MemoryAccess::kWrite ? memory.page_for_write(page)
                                              : const_cast<u8*>(memory.page_for_read(page));
    visit(host + within, piece);
    offset += piece;
    length -= piece;
  }
  return true;
}

/// Copies out of, or into, RAM. False, and nothing copied, if the range is not wholly RAM.
bool read_guest(GuestMemory& memory, u64 address, void* to, u64 length);
bool write_guest(GuestMemory& memory, u64 address, const void* from, u64 length);

}  // namespace shinken
