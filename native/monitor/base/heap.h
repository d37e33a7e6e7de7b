#pragma once
// The C library keeps what is freed; a process that closes thousands of machines wants the host to have it
// back.
#include "monitor/base/types.h"

namespace shinken {

/// So many freed bytes are worth the search for whole pages among them.
inline constexpr u64 kReturnHeapFrom = u64{16} << 20;

/// Counts bytes that were given back to the C library. Any thread.
void note_freed(u64 bytes);
/// True if `kReturnHeapFrom` or more were freed since the last `return_heap`.
bool heap_is_worth_returning();
/// Gives whole free pages of the C library's heap back to the host: milliseconds. Only glibc can; elsewhere
/// nothing happens.
void return_heap();

}  // namespace shinken
