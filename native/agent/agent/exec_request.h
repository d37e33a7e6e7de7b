#pragma once
// A parsed `exec` request; its texts live in a static arena until the next one.
#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/users.h"

struct exec_request {
  char* argv[ARGS_MAX + 1];
  char* envp[ENVIRONMENT_MAX + 16];
  char cwd[PATH_BYTES];
  uint32_t spool;  // stream whose spooled bytes are the standard input, 0: none
  char user_name[NAME_BYTES];
  const struct user* user;
  const char* path;
  bool clean, has_stdin, merge, dialogue, image, terminal;
  uint32_t columns, rows;
  int64_t timeout_ms;  // 0: none
  uint64_t limit;
};

/// Parses and answers faults itself; null then. Looks the user up, and builds the environment.
struct exec_request* exec_parse(struct request* request);
