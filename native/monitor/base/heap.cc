#include "monitor/base/heap.h"

#include <atomic>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace shinken {
namespace {

std::atomic<u64> freed{0};

}  // namespace

void note_freed(u64 bytes) {
  freed.fetch_add(bytes, std::memory_order_relaxed);
}

bool heap_is_worth_returning() {
  return freed.load(std::memory_order_relaxed) >= kReturnHeapFrom;
}

void return_heap() {
  freed.store(0, std::memory_order_relaxed);
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace shinken
