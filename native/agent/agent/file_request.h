#pragma once
// The fields that the file operations share.
#include "agent/agent.h"
#include "agent/users.h"

struct file_request {
  char path[PATH_BYTES];
  char user_name[NAME_BYTES];
  const struct user* user;
  bool append, parents, follow, kernel, has_mode, spool;
  uint32_t mode;
  uint64_t offset, limit;
};

/// Fields an operation accepts.
enum file_fields {
  FIELD_RANGE = 1,  // offset, limit
  FIELD_WRITE = 2,  // mode, append, parents, spool
  FIELD_USER = 4,
  FIELD_FOLLOW = 8,
  FIELD_LIMIT = 16,  // limit alone
};

/// Parses a file request and takes on its user's rights (call rights_leave() when done), or answers the
/// fault: null then.
struct file_request* file_parse(struct request* request, int fields);
