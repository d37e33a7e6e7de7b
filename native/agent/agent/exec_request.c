#include "agent/exec_request.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define USER_PATH "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"

static struct exec_request parsed;
// Every text of a request fits, each with a NUL instead of its tag, and so do the few default variables.
static char arena[FRAME_PAYLOAD_MAX + 4 * PATH_BYTES];
static uint32_t arena_used;

/// Copies pieces into one text of the arena.
static char* keep(struct span first, const char* between, struct span second) {
  size_t middle = strlen(between);
  size_t length = first.length + middle + second.length;
  if (length + 1 > sizeof arena - arena_used) return NULL;
  char* text = arena + arena_used;
  memcpy(text, first.at, first.length);
  memcpy(text + first.length, between, middle);
  memcpy(text + first.length + middle, second.at, second.length);
  text[length] = 0;
  arena_used += (uint32_t)length + 1;
  return text;
}

static bool plain(struct span span) {
  return span.length == 0 || memchr(span.at, 0, span.length) == NULL;
}

static struct span span_of(const char* text) {
  return (struct span){(const uint8_t*)text, (uint32_t)strlen(text)};
}

static void take_argv(struct mp_reader* reader) {
  uint32_t count = mp_array(reader);
  if (count == 0 || count > ARGS_MAX) {
    reader->bad = true;
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    struct span span = mp_str(reader);
    char* text = reader->bad || !plain(span) ? NULL : keep(span, "", span_of(""));
    if (text == NULL) {
      reader->bad = true;
      return;
    }
    parsed.argv[i] = text;
  }
  parsed.argv[count] = NULL;
}

static void take_terminal(struct mp_reader* reader) {
  if (mp_array(reader) != 2) reader->bad = true;
  parsed.columns = (uint32_t)mp_between(reader, 1, 65535);
  parsed.rows = (uint32_t)mp_between(reader, 1, 65535);
  parsed.terminal = true;
}

static void take_fields(struct mp_reader* reader, struct mp_reader* environment) {
  uint32_t pairs = mp_map(reader);
  struct span key;
  while (next_key(reader, &pairs, &key)) {
    if (span_is(key, "argv"))
      take_argv(reader);
    else if (span_is(key, "cwd"))
      take_text(reader, parsed.cwd, sizeof parsed.cwd);
    else if (span_is(key, "env"))
      *environment = *reader, mp_skip(reader);
    else if (span_is(key, "clean"))
      parsed.clean = mp_bool(reader);
    else if (span_is(key, "user"))
      take_text(reader, parsed.user_name, sizeof parsed.user_name);
    else if (span_is(key, "timeout"))
      parsed.timeout_ms = mp_between(reader, 1, TIMEOUT_MAX_MS);
    else if (span_is(key, "output"))
      parsed.limit = (uint64_t)mp_between(reader, 0, INT64_MAX);
    else if (span_is(key, "stdin"))
      parsed.has_stdin = mp_bool(reader);
    else if (span_is(key, "spool"))
      parsed.spool = (uint32_t)mp_between(reader, 1, UINT32_MAX);
    else if (span_is(key, "tty"))
      take_terminal(reader);
    else if (span_is(key, "merge"))
      parsed.merge = mp_bool(reader);
    else if (span_is(key, "dialogue"))
      parsed.dialogue = mp_bool(reader);
    else if (span_is(key, "image"))
      parsed.image = mp_bool(reader);
    else
      unknown_key(reader, key);
  }
}

/// Adds NAME=VALUE, in place of an earlier one of that name.
static bool set_variable(uint32_t* count, struct span name, struct span value) {
  if (name.length == 0 || !plain(name) || !plain(value) || memchr(name.at, '=', name.length) != NULL)
    return false;
  char* text = keep(name, "=", value);
  if (text == NULL) return false;
  uint32_t at = 0;
  while (at < *count && strncmp(parsed.envp[at], text, name.length + 1) != 0) at++;
  if (at == *count) {
    if (*count >= ENVIRONMENT_MAX + 15) return false;
    (*count)++;
  }
  parsed.envp[at] = text;
  if (span_is(name, "PATH")) parsed.path = text + 5;
  return true;
}

static void set_default(uint32_t* count, const char* name, const char* value) {
  set_variable(count, span_of(name), span_of(value));
}

/// The request's own variables over the defaults; false if they are not a map of texts.
static bool build_environment(struct mp_reader* given) {
  uint32_t count = 0;
  parsed.path = parsed.user->uid == 0 ? DEFAULT_PATH : USER_PATH;
  if (parsed.image) {
    set_default(&count, "PATH", DEFAULT_PATH);
    set_default(&count, "LANG", "C.UTF-8");
    set_default(&count, "HOME", "/nonexistent");
  } else if (!parsed.clean) {
    set_default(&count, "PATH", parsed.path);
    set_default(&count, "HOME", parsed.user->home);
    set_default(&count, "USER", parsed.user->name);
    set_default(&count, "LOGNAME", parsed.user->name);
    set_default(&count, "SHELL", parsed.user->shell[0] != 0 ? parsed.user->shell : "/bin/sh");
    set_default(&count, "LANG", "C.UTF-8");
    set_default(&count, "TERM", parsed.terminal ? "xterm-256color" : "dumb");
  }
  uint32_t pairs = given->at == given->end ? 0 : mp_map(given);
  if (given->bad || pairs > ENVIRONMENT_MAX) return false;
  for (uint32_t i = 0; i < pairs; i++) {
    struct span name = mp_str(given);
    struct span value = mp_str(given);
    if (given->bad || !set_variable(&count, name, value)) return false;
  }
  parsed.envp[count] = NULL;
  return true;
}

struct exec_request* exec_parse(struct request* request) {
  arena_used = 0;
  parsed.argv[0] = NULL;
  parsed.cwd[0] = parsed.user_name[0] = 0;
  parsed.clean = parsed.has_stdin = parsed.merge = parsed.dialogue = parsed.image = parsed.terminal = false;
  parsed.timeout_ms = 0;
  parsed.spool = 0;
  parsed.limit = OUTPUT_DEFAULT;
  struct mp_reader environment = {request->reader.end, request->reader.end, false};
  take_fields(&request->reader, &environment);
  if (!request_done(request)) return NULL;
  struct port* port = request->port;
  if (parsed.argv[0] == NULL || (parsed.terminal && parsed.dialogue)) {
    reply_error(port, request->frame.stream, "EINVAL", parsed.argv[0] == NULL ? "argv" : "tty");
    return NULL;
  }
  parsed.user = user_find(parsed.user_name);
  if (parsed.user == NULL) {
    reply_errno(port, request->frame.stream, errno, "user");
    return NULL;
  }
  if (!build_environment(&environment)) {
    reply_error(port, request->frame.stream, "EINVAL", "env");
    return NULL;
  }
  return &parsed;
}
