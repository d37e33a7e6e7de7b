#include "agent/file_request.h"

static struct file_request parsed;

static bool take_field(struct mp_reader* reader, struct span key, int fields) {
  if (span_is(key, "path"))
    take_text(reader, parsed.path, sizeof parsed.path);
  else if (span_is(key, "user") && (fields & FIELD_USER))
    take_text(reader, parsed.user_name, sizeof parsed.user_name);
  else if (span_is(key, "offset") && (fields & FIELD_RANGE))
    parsed.offset = (uint64_t)mp_between(reader, 0, INT64_MAX);
  else if (span_is(key, "limit") && (fields & (FIELD_RANGE | FIELD_LIMIT)))
    parsed.limit = (uint64_t)mp_between(reader, 0, INT64_MAX);
  else if (span_is(key, "mode") && (fields & FIELD_WRITE))
    parsed.mode = (uint32_t)mp_between(reader, 0, 07777), parsed.has_mode = true;
  else if (span_is(key, "append") && (fields & FIELD_WRITE))
    parsed.append = mp_bool(reader);
  else if (span_is(key, "parents") && (fields & FIELD_WRITE))
    parsed.parents = mp_bool(reader);
  else if (span_is(key, "spool") && (fields & FIELD_WRITE))
    parsed.spool = mp_bool(reader);
  else if (span_is(key, "follow") && (fields & FIELD_FOLLOW))
    parsed.follow = mp_bool(reader);
  else
    return false;
  return true;
}

struct file_request* file_parse(struct request* request, int fields) {
  parsed.path[0] = parsed.user_name[0] = 0;
  parsed.append = parsed.parents = parsed.follow = parsed.has_mode = parsed.spool = false;
  parsed.mode = 0644;
  parsed.offset = 0;
  parsed.limit = INT64_MAX;
  struct mp_reader* reader = &request->reader;
  uint32_t pairs = mp_map(reader);
  struct span key;
  while (next_key(reader, &pairs, &key))
    if (!take_field(reader, key, fields)) unknown_key(reader, key);
  if (!request_done(request)) return NULL;
  uint32_t id = request->frame.stream;
  if (parsed.spool ? parsed.path[0] != 0 : parsed.path[0] != '/') {
    reply_errno(request->port, id, EINVAL, "path");
    return NULL;
  }
  parsed.user = user_find(parsed.user_name);
  int error = parsed.user == NULL ? errno : parsed.user_name[0] == 0 ? 0 : rights_enter(parsed.user);
  if (error != 0) {
    reply_errno(request->port, id, error, "user");
    return NULL;
  }
  return &parsed;
}
