#include "monitor/memory/host_mapping.h"

#include <sys/mman.h>

#include "monitor/base/error.h"

namespace shinken {
namespace {

u8* checked(void* at) {
  if (at != MAP_FAILED) return static_cast<u8*>(at);
  throw MonitorError(ErrorKind::kNoMemory,
                     "the host refused to map guest memory; for very many machines see vm.max_map_count");
}

bool fits(const u8* at) {
  return reinterpret_cast<u64>(at) % kHugeBytes == 0;
}

}  // namespace

u8* map_host(int file, u64 bytes, int protection, int flags, bool aligned) {
  u8* first = checked(mmap(nullptr, bytes, protection, flags, file, 0));
  if (!aligned || fits(first)) return first;
  munmap(first, bytes);
  u8* room = checked(mmap(nullptr, bytes + kHugeBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  u8* end = room + bytes + kHugeBytes;
  u8* place = room + (kHugeBytes - reinterpret_cast<u64>(room) % kHugeBytes);
  // SAFETY: within the room that is ours.
  if (mmap(place, bytes, protection, flags | MAP_FIXED, file, 0) == MAP_FAILED) {
    munmap(room, bytes + kHugeBytes);
    checked(MAP_FAILED);
  }
  munmap(room, static_cast<u64>(place - room));
  if (place + bytes < end) munmap(place + bytes, static_cast<u64>(end - place - bytes));
  return place;
}

}  // namespace shinken
