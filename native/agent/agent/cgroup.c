#include "agent/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "agent/kernel_threads.h"
#include "agent/limits.h"
#include "agent/strays.h"

#define CGROUP_ROOT "/sys/fs/cgroup"
#define RESERVE_SHARE 16
#define RESERVE_MIN (32ull << 20)
#define PROCESSES_MAX "4096"
/// Threads of init and of the agent.
#define OWN_THREADS 2
/// The kernel tells how many threads there are in 16 bits; that many have stacks of so much memory.
#define THREADS_WRAP (65536ull * 16384)

static int base_fd[PORTS] = {-1, -1};
static int leaf_fd[PORTS][STREAMS_MAX];
static int background_fd[PORTS] = {-1, -1};
static int pids_fd[PORTS] = {-1, -1};
static int freeze_fd = -1, events_fd = -1, memory_events_fd = -1;
static int root_fd = -1;
static bool controllers;
/// A command has run on the grader's port since the machine became what it is.
static bool grader_ran;

static int write_text(int folder, const char* name, const char* text) {
  int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  int error = write(fd, text, strlen(text)) < 0 ? errno : 0;
  close(fd);
  return error;
}

static int folder(int parent, const char* name) {
  if (mkdirat(parent, name, 0755) != 0 && errno != EEXIST) return -1;
  return openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

#ifndef HOST_TEST
/// Keeps some memory and process numbers from the workload: when it has used up its own, its processes are
/// killed, and the agent can still answer. What it writes to the file systems in memory counts as its own.
static void limit_workload(int workload) {
  struct sysinfo info;
  char text[32];
  if (sysinfo(&info) != 0) return;
  uint64_t total = (uint64_t)info.totalram * info.mem_unit;
  uint64_t reserve = total / RESERVE_SHARE > RESERVE_MIN ? total / RESERVE_SHARE : RESERVE_MIN;
  if (total <= 2 * reserve) return;
  snprintf(text, sizeof text, "%llu", (unsigned long long)(total - reserve));
  write_text(workload, "memory.max", text);
  write_text(workload, "pids.max", PROCESSES_MAX);
}
#endif

void cgroup_setup(void) {
#ifndef HOST_TEST
  int root = root_fd = open(CGROUP_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return;
  controllers = write_text(root, "cgroup.subtree_control", "+memory +pids") == 0;
  static const char* const names[PORTS] = {"workload", "grader"};
  for (int port = 0; port < PORTS; port++) {
    base_fd[port] = folder(root, names[port]);
    if (base_fd[port] < 0) continue;
    background_fd[port] = folder(base_fd[port], "background");
    pids_fd[port] = openat(base_fd[port], "pids.current", O_RDONLY | O_CLOEXEC);
  }
  if (base_fd[0] < 0) return;
  if (controllers) limit_workload(base_fd[0]);
  freeze_fd = openat(base_fd[0], "cgroup.freeze", O_WRONLY | O_CLOEXEC);
  events_fd = openat(base_fd[0], "cgroup.events", O_RDONLY | O_CLOEXEC);
  memory_events_fd = openat(base_fd[0], "memory.events", O_RDONLY | O_CLOEXEC);
#endif
}

int cgroup_hooks(void) {
#ifdef HOST_TEST
  return -1;
#else
  int root = open(CGROUP_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return -1;
  int hooks = folder(root, "hooks");
  close(root);
  return hooks;
#endif
}

bool cgroup_controllers(void) {
  return controllers;
}

/// The threads in a cgroup with a pids controller; -1 if that is gone.
static int64_t threads_in(int fd) {
  char text[32];
  ssize_t got = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
  if (got <= 0) return -1;
  text[got] = 0;
  return strtoll(text, NULL, 10);
}

/// Whether every thread there is, is the kernel's, the agent's own or in the workload: what the kernel counts
/// itself, nobody in the machine can forge. False also where it cannot be told.
static bool all_accounted_for(void) {
  struct sysinfo info;
  // What the grader itself started stays; before that there is nothing in its cgroup but what went there by
  // itself.
  int64_t workload = threads_in(pids_fd[0]), grader = grader_ran ? threads_in(pids_fd[1]) : 0;
  if (workload < 0 || grader < 0 || sysinfo(&info) != 0) return false;
  if ((uint64_t)(info.totalram - info.freeram) * info.mem_unit >= THREADS_WRAP) return false;
  return info.procs == workload + grader + OWN_THREADS + kernel_threads_count();
}

void cgroup_learn(void) {
  if (root_fd >= 0 && !all_accounted_for()) strays_learn(root_fd);
}

bool cgroup_gather(void) {
  if (root_fd < 0 || base_fd[0] < 0 || all_accounted_for()) return false;
  // Mostly the kernel has a thread more.
  cgroup_learn();
  if (all_accounted_for()) return false;
  // Root may have removed the folder.
  int into = folder(base_fd[0], "background");
  bool moved = into >= 0 && strays_gather(root_fd, into, !grader_ran);
  if (into >= 0) close(into);
  return moved;
}

void cgroup_new_machine(void) {
  grader_ran = false;
}

int cgroup_leaf(int port, int slot) {
  if (base_fd[port] < 0) return -1;
  if (port == 1 && !grader_ran) {
    cgroup_gather();
    grader_ran = true;
  }
  int* leaf = &leaf_fd[port][slot];
  if (*leaf <= 0) {
    char name[16];
    snprintf(name, sizeof name, "x%d", slot);
    *leaf = folder(base_fd[port], name);
  }
  return *leaf;
}

void cgroup_kill(int leaf) {
  if (leaf >= 0) write_text(leaf, "cgroup.kill", "1");
}

void cgroup_leave_behind(int port, int leaf) {
  if (leaf < 0 || background_fd[port] < 0) return;
  char pids[4096];
  // A few rounds: what is listed may fork before it is moved.
  for (int round = 0; round < 8; round++) {
    int fd = openat(leaf, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t got = read(fd, pids, sizeof pids - 1);
    close(fd);
    if (got <= 0) return;
    pids[got] = 0;
    char* save = NULL;
    for (char* pid = strtok_r(pids, "\n", &save); pid != NULL; pid = strtok_r(NULL, "\n", &save))
      write_text(background_fd[port], "cgroup.procs", pid);
  }
}

/// The number after `key` in a flat-keyed cgroup file, or -1.
static int64_t keyed(int fd, const char* key) {
  char text[512];
  if (fd < 0) return -1;
  ssize_t got = pread(fd, text, sizeof text - 1, 0);
  if (got <= 0) return -1;
  text[got] = 0;
  size_t length = strlen(key);
  for (char* line = text; line != NULL; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, key, length) == 0 && line[length] == ' ') return strtoll(line + length + 1, NULL, 10);
  }
  return -1;
}

int64_t cgroup_oom_kills(void) {
  return keyed(memory_events_fd, "oom_kill");
}

int cgroup_freeze(bool frozen) {
  if (freeze_fd < 0) return ENOSYS;
  return pwrite(freeze_fd, frozen ? "1" : "0", 1, 0) == 1 ? 0 : errno;
}

int cgroup_is_frozen(void) {
  int64_t value = keyed(events_fd, "frozen");
  return value < 0 ? -ENOSYS : value != 0;
}

int cgroup_events_fd(void) {
  return events_fd;
}
