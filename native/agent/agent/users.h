#pragma once
// Users of the guest, from /etc/passwd and /etc/group, and file access with their rights.
#include <stdint.h>

#include "agent/limits.h"

struct user {
  char name[NAME_BYTES];
  char home[PATH_BYTES / 16];
  char shell[PATH_BYTES / 16];
  uint32_t uid, gid;
  int group_count;
  uint32_t groups[GROUPS_MAX];
};

/// The user of that name, or null with errno set (ENOENT: no such user). The empty name and "root" are root.
/// Answers come from a small cache that is dropped when either file changes; the pointer holds until the next
/// call.
const struct user* user_find(const char* name);

/// Takes on the user's rights on files until rights_leave(); 0 or an errno.
int rights_enter(const struct user* user);
void rights_leave(void);
