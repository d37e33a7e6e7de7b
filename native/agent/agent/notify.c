// Processes that asked to be signalled after a fork. Nobody else is: the default action of a signal is death.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/identity.h"

#define REGISTRATIONS_MAX 256

static int folder_fd = -1;

void notify_prepare(const char* folder) {
  char path[256];
  snprintf(path, sizeof path, "%s/notify.d", folder);
  mkdir(path, 01777);
  chmod(path, 01777);  // whatever the umask says: any user may register
  folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// The registration in the file, if it is one line of three numbers in a regular file.
static bool registration(const char* name, int* pid, int* number, unsigned long long* start, uid_t* owner) {
  char text[96];
  int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return false;
  struct stat st;
  ssize_t got = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, text, sizeof text - 1) : -1;
  close(fd);
  if (got <= 0) return false;
  text[got] = 0;
  *owner = st.st_uid;
  return sscanf(text, "%d %d %llu", pid, number, start) == 3 && *pid > 1 && *number > 0 && *number <= 64;
}

/// True if the process is the one that registered: same start time, and the file's owner may speak for it.
static bool is_registrant(int pid, unsigned long long start, uid_t owner) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d", pid);
  struct stat st;
  if (stat(path, &st) != 0 || (owner != 0 && owner != st.st_uid)) return false;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return false;
  text[got] = 0;
  const char* at = strrchr(text, ')');
  // Field 3 follows the name, field 22 is the start time.
  for (int field = 3; at != NULL && field <= 22; field++) at = strchr(at + 1, ' ');
  return at != NULL && strtoull(at + 1, NULL, 10) == start;
}

int notify_registered(uint32_t* count) {
  static _Alignas(8) char entries[4096];
  *count = 0;
  if (folder_fd < 0) return ENOENT;
  if (lseek(folder_fd, 0, SEEK_SET) < 0) return errno;
  long got;
  uint32_t seen = 0;
  while ((got = syscall(SYS_getdents64, folder_fd, entries, sizeof entries)) > 0) {
    for (long at = 0; at < got;) {
      const struct folder_entry* entry = (const void*)(entries + at);
      at += entry->length;
      int pid, number;
      unsigned long long start;
      uid_t owner;
      if (entry->name[0] == '.' || ++seen > REGISTRATIONS_MAX) continue;
      if (!registration(entry->name, &pid, &number, &start, &owner) || !is_registrant(pid, start, owner))
        continue;
      if (kill(pid, number) == 0) (*count)++;
    }
  }
  return got < 0 ? errno : 0;
}
