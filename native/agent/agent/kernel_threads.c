#include "agent/kernel_threads.h"

#include <stdint.h>
#include <stdlib.h>

#include "agent/proc.h"

#define KERNEL_THREADS_MAX 1024

static int pids[KERNEL_THREADS_MAX];
static uint32_t count, hint;

void kernel_threads_read(int proc) {
  static char text[KERNEL_THREADS_MAX * 8];
  struct process kthreadd;
  count = hint = 0;
  if (proc_read(proc, "2", "stat", text, sizeof text) <= 0 || !proc_parse(text, &kthreadd)) return;
  // In a container of a host's tests pid 2 may be anybody.
  if ((kthreadd.flags & KERNEL_THREAD) == 0) return;
  pids[count++] = 2;
  if (proc_read(proc, "2", "task/2/children", text, sizeof text) <= 0) return;
  char* at = text;
  for (long pid; count < KERNEL_THREADS_MAX && (pid = strtol(at, &at, 10)) > 0;)
    // A number at the very end may have been cut; it is looked at like any other process then.
    if (*at == ' ') pids[count++] = (int)pid;
}

bool is_kernel_thread(int pid) {
  // Both lists are in the order of age, so the next one looked for mostly follows the last.
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = (hint + i) % count;
    if (pids[at] != pid) continue;
    hint = at + 1;
    return true;
  }
  return false;
}
