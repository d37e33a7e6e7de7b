#pragma once
// The kernel's own threads: most of what /proc lists, and dear to look at one by one. Each is looked at once
// and remembered until it ends.
#include <stdbool.h>
#include <stdint.h>

/// How many are remembered; those that have ended are forgotten first.
uint32_t kernel_threads_count(void);
/// Whether the process is remembered. Asked right after the count, the answer holds: nobody else has its
/// number while it lives. Cheap where they are asked for in the order of their age.
bool kernel_thread_known(int pid);
/// Whether the process is one, after a look at it in /proc, whose descriptor `proc` is; remembers it then.
bool kernel_thread_look(int proc, int pid);
