#include "agent/strays.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/kernel_threads.h"
#include "agent/proc.h"

#define PIDS_BYTES 65536
#define DEPTH_MAX 16
#define ROUNDS_MAX 8

static bool put(int group, const char* file, const char* text) {
  int fd = openat(group, file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool done = write(fd, text, strlen(text)) > 0;
  close(fd);
  return done;
}

/// The numbers in the list of a cgroup's processes, one a line; null if it cannot be read. Valid until the
/// next call.
static char* list_of(int group) {
  static char text[PIDS_BYTES];
  int fd = openat(group, "cgroup.procs", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  size_t used = 0;
  for (ssize_t got; used + 1 < sizeof text && (got = read(fd, text + used, sizeof text - 1 - used)) > 0;)
    used += (size_t)got;
  close(fd);
  text[used] = 0;
  return text;
}

static bool is_ours(int pid) {
  return pid <= 1 || pid == getpid();
}

/// Moves the processes of one cgroup; true if there were any.
static bool move_all(int proc, int group, int into) {
  bool moved = false;
  char* save = NULL;
  char* text = list_of(group);
  if (text == NULL) return false;
  for (char* line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
    int pid = atoi(line);
    if (is_ours(pid) || kernel_thread_look(proc, pid)) continue;
    if (put(into, "cgroup.procs", line))
      moved = true;
    else
      // Root may have made the workload's cgroups such that none takes it in.
      kill(pid, SIGSTOP);
  }
  return moved;
}

/// Whether anything is in a cgroup or below; the root has no such file.
static bool populated(int group) {
  char text[64];
  int fd = openat(group, "cgroup.events", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return true;
  text[got] = 0;
  return strstr(text, "populated 0") == NULL;
}

struct gathering {
  int proc, into;
  bool grader, moved;
};

static void gather(struct gathering* all, int group, int depth) {
  if (!populated(group)) return;
  // What is listed may fork before it is moved.
  for (int round = 0; round < ROUNDS_MAX && move_all(all->proc, group, all->into); round++) all->moved = true;
  int listed = openat(group, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = listed < 0 ? NULL : fdopendir(listed);
  if (folder == NULL) {
    if (listed >= 0) close(listed);
    return;
  }
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
    if (depth == 0 && strcmp(entry->d_name, "workload") == 0) continue;
    if (depth == 0 && strcmp(entry->d_name, "grader") == 0 && !all->grader) continue;
    int below = openat(group, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (below < 0) continue;
    if (depth < DEPTH_MAX)
      gather(all, below, depth + 1);
    else
      put(below, "cgroup.freeze", "1");
    close(below);
  }
  closedir(folder);
}

bool strays_gather(int root, int into, bool grader) {
  struct gathering all = {.proc = proc_open(), .into = into, .grader = grader};
  if (all.proc < 0) return false;
  kernel_threads_count();
  gather(&all, root, 0);
  close(all.proc);
  return all.moved;
}

void strays_learn(int root) {
  int proc = proc_open();
  char* save = NULL;
  char* text = proc < 0 ? NULL : list_of(root);
  char* line = text == NULL ? NULL : strtok_r(text, "\n", &save);
  for (; line != NULL; line = strtok_r(NULL, "\n", &save)) {
    int pid = atoi(line);
    if (!is_ours(pid)) kernel_thread_look(proc, pid);
  }
  if (proc >= 0) close(proc);
}
