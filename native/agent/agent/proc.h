#pragma once
// What /proc says of one process.
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// PF_KTHREAD of the kernel's include/linux/sched.h, in the flags of /proc/PID/stat.
#define KERNEL_THREAD 0x00200000u

struct process {
  char name[64];
  char state[2];
  long pid, ppid;
  unsigned long flags;
  unsigned long long start;
};

/// A new descriptor of /proc as it was when the agent started, whatever lies over it now; -1 with errno.
int proc_open(void);
/// Reads `file` of the process `pid` into `text`, ended by NUL; its length, or -1.
ssize_t proc_read(int proc, const char* pid, const char* file, char* text, size_t capacity);
/// Fields of proc(5)'s /proc/PID/stat.
bool proc_parse(const char* text, struct process* process);
