// Dialogues: letting a program's output through until it prints a marker.
#include <string.h>

#include "agent/agent.h"

static void parse(struct request* request, struct await* await, uint32_t* target, int64_t* timeout_ms) {
  struct mp_reader* reader = &request->reader;
  uint32_t pairs = mp_map(reader);
  struct span key;
  while (next_key(reader, &pairs, &key)) {
    if (span_is(key, "stream")) {
      *target = (uint32_t)mp_between(reader, 1, UINT32_MAX);
    } else if (span_is(key, "marker")) {
      struct span marker = mp_bin(reader);
      if (marker.length < 2 || marker.length > MARKER_MAX ||
          memchr(marker.at + 1, marker.at[0], marker.length - 1) != NULL) {
        reader->bad = true;
        return;
      }
      memcpy(await->marker, marker.at, marker.length);
      await->marker_length = marker.length;
    } else if (span_is(key, "timeout")) {
      *timeout_ms = mp_between(reader, 1, TIMEOUT_MAX_MS);
    } else if (span_is(key, "limit")) {
      await->limit = (uint64_t)mp_between(reader, 0, INT64_MAX);
    } else {
      unknown_key(reader, key);
    }
  }
}

void op_await(struct request* request) {
  static struct await parsed;
  parsed.target = NULL;
  parsed.matched = parsed.line_done = false;
  parsed.marker_length = parsed.seen = parsed.line_length = 0;
  parsed.kept = parsed.dropped = 0;
  parsed.limit = OUTPUT_DEFAULT;
  uint32_t target_id = 0;
  int64_t timeout_ms = 0;
  parse(request, &parsed, &target_id, &timeout_ms);
  if (!request_done(request)) return;
  struct stream* target = stream_find(request->port, target_id);
  const char* wrong = NULL;
  if (parsed.marker_length == 0)
    wrong = "EINVAL";
  else if (target == NULL || target->kind != STREAM_COMMAND || !target->command.dialogue)
    wrong = "ESRCH";
  else if (target->command.await != NULL)
    wrong = "EBUSY";
  if (wrong != NULL) {
    reply_error(request->port, request->frame.stream, wrong, parsed.marker_length == 0 ? "marker" : "stream");
    return;
  }
  struct stream* stream = stream_open(request, STREAM_AWAIT);
  if (stream == NULL) return;
  parsed.target = target;
  memcpy(&stream->await, &parsed, offsetof(struct await, line));
  target->command.await = stream;
  if (timeout_ms > 0) stream->deadline_us = now_us() + (uint64_t)timeout_ms * 1000u;
}

// The bytes to look at begin MARKER_MAX after `bytes`: so the ones that are let through, which may include a
// held beginning of the marker from an earlier read, never overtake the ones still to be looked at.
uint32_t await_feed(struct stream* stream, uint8_t* bytes, uint32_t count) {
  struct await* await = &stream->await;
  uint32_t through = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint8_t byte = bytes[MARKER_MAX + i];
    if (await->matched && !await->line_done) {
      if (byte == '\n')
        await->line_done = true;
      else if (await->line_length < LINE_MAX_BYTES)
        await->line[await->line_length++] = byte;
      continue;
    }
    if (!await->matched && byte == await->marker[await->seen]) {
      if (++await->seen == await->marker_length) await->matched = true;
      continue;
    }
    if (!await->matched && await->seen > 0) {
      memcpy(bytes + through, await->marker, await->seen);
      through += await->seen;
      await->seen = byte == await->marker[0] ? 1 : 0;
      if (await->seen > 0) continue;
    }
    bytes[through++] = byte;
  }
  uint64_t most = await->limit - await->kept;
  uint32_t kept = through < most ? through : (uint32_t)most;
  await->kept += kept;
  await->dropped += through - kept;
  return kept;
}

bool await_pump(struct stream* stream) {
  const struct await* await = &stream->await;
  bool ended = await->target == NULL;
  bool late = stream->deadline_us != 0 && now_us() >= stream->deadline_us;
  if (!ended && !late && !await->line_done) return false;
  struct mp_writer writer = reply_start(stream->port);
  mp_put_map(&writer, 4);
  mp_put_str(&writer, "matched");
  mp_put_bool(&writer, await->line_done);
  mp_put_str(&writer, "ended");
  mp_put_bool(&writer, ended);
  mp_put_str(&writer, "line");
  mp_put_bin(&writer, await->line, await->line_length);
  mp_put_str(&writer, "dropped");
  mp_put_int(&writer, (int64_t)await->dropped);
  reply_end(stream->port, stream->id, &writer);
  stream_close(stream);
  return true;
}
