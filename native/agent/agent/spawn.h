#pragma once
// Starting a program: what must happen between clone and exec.
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/users.h"

struct spawn {
  char* const* argv;
  char* const* envp;
  const char* cwd;   // null: the user's home, or /
  const char* path;  // PATH of envp, for a name without a slash
  const struct user* user;
  int fds[3];
  bool terminal;        // fds are one terminal, which becomes the controlling one
  int leaf_fd;          // cgroup to start in, -1: the agent's own
  int image_namespace;  // mount namespace to enter, -1: the agent's own
  // Filled in by the child, whose memory is the agent's until it execs:
  const char* failed;  // step that failed, null if it runs
  int error;
};

/// Starts the program in a new session. Returns its pid, or -1 with `failed` and `error` set; no child is
/// left then.
pid_t spawn(struct spawn* spawn);
