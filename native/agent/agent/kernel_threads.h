#pragma once
// Kernel threads, the children of kthreadd: most of what /proc lists, and dear to look at one by one.
#include <stdbool.h>

/// Takes down which there are now; `proc` is a descriptor of /proc.
void kernel_threads_read(int proc);
/// Whether the process was one of them. Cheap where they are asked for in the order of their age.
bool is_kernel_thread(int pid);
