#include "agent/proc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int proc_open(void) {
  // The machine's root can mount over /proc; a descriptor stays where it was.
  static int held = -1;
  if (held < 0) held = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return held < 0 ? -1 : openat(held, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

ssize_t proc_read(int proc, const char* pid, const char* file, char* text, size_t capacity) {
  char path[64];
  size_t digits = strnlen(pid, sizeof path / 2), length = strlen(file);
  if (digits + length + 2 > sizeof path) return -1;
  memcpy(path, pid, digits);
  path[digits] = '/';
  memcpy(path + digits + 1, file, length + 1);
  int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t got = read(fd, text, capacity - 1);
  close(fd);
  if (got >= 0) text[got] = 0;
  return got;
}

// The name may hold any character, so its end is the last parenthesis.
bool proc_parse(const char* text, struct process* process) {
  const char* open = strchr(text, '(');
  const char* close = strrchr(text, ')');
  if (open == NULL || close == NULL || close < open || close[1] != ' ') return false;
  size_t length = (size_t)(close - open - 1);
  if (length >= sizeof process->name) length = sizeof process->name - 1;
  memcpy(process->name, open + 1, length);
  process->name[length] = 0;
  process->pid = strtol(text, NULL, 10);
  process->state[0] = close[2];
  process->state[1] = 0;
  char* at = (char*)close + 3;
  process->ppid = strtol(at, &at, 10);
  for (int field = 5; field < 9; field++) strtol(at, &at, 10);
  process->flags = strtoul(at, &at, 10);
  for (int field = 10; field < 22; field++) strtol(at, &at, 10);
  process->start = strtoull(at, NULL, 10);
  return true;
}
