// Letting time pass, and stopping the workload.
#include <sys/epoll.h>

#include "agent/agent.h"
#include "agent/cgroup.h"

#define FREEZE_TIMEOUT_MS 5000

void op_wait(struct request* request) {
  struct mp_reader* reader = &request->reader;
  int64_t ms = -1;
  uint32_t pairs = mp_map(reader);
  struct span key;
  while (next_key(reader, &pairs, &key)) {
    if (span_is(key, "ms"))
      ms = mp_between(reader, 0, TIMEOUT_MAX_MS);
    else
      unknown_key(reader, key);
  }
  if (!request_done(request)) return;
  if (ms < 0) {
    reply_error(request->port, request->frame.stream, "EINVAL", "ms");
    return;
  }
  struct stream* stream = stream_open(request, STREAM_WAIT);
  if (stream != NULL) stream->deadline_us = now_us() + (uint64_t)ms * 1000u;
}

void op_freeze(struct request* request) {
  static bool watching;
  struct mp_reader* reader = &request->reader;
  int frozen = -1;
  int64_t timeout_ms = FREEZE_TIMEOUT_MS;
  uint32_t pairs = mp_map(reader);
  struct span key;
  while (next_key(reader, &pairs, &key)) {
    if (span_is(key, "frozen"))
      frozen = mp_bool(reader);
    else if (span_is(key, "timeout"))
      timeout_ms = mp_between(reader, 1, TIMEOUT_MAX_MS);
    else
      unknown_key(reader, key);
  }
  if (!request_done(request)) return;
  if (frozen > 0 && request->port == &ports[1]) cgroup_gather();
  int error = frozen < 0 ? EINVAL : cgroup_freeze(frozen != 0);
  if (error != 0) {
    reply_errno(request->port, request->frame.stream, error, frozen < 0 ? "frozen" : "freeze");
    return;
  }
  if (!watching) watching = watch(cgroup_events_fd(), EPOLLPRI, WATCH_CGROUP, 0) == 0;
  struct stream* stream = stream_open(request, STREAM_FREEZE);
  if (stream == NULL) return;
  stream->frozen = frozen != 0;
  // What the grader asks next is asked of a workload that stands still.
  request->port->held = stream->frozen && request->port == &ports[1];
  stream->deadline_us = now_us() + (uint64_t)timeout_ms * 1000u;
}

bool freeze_pump(struct stream* stream) {
  if (cgroup_is_frozen() == (stream->frozen ? 1 : 0)) {
    // Now none of its processes is half-way through a fork, so their count is exact.
    if (stream->port->held && cgroup_gather() && now_us() < stream->deadline_us) return true;
    struct mp_writer writer = reply_start(stream->port);
    mp_put_map(&writer, 0);
    reply_end(stream->port, stream->id, &writer);
    stream_close(stream);
    return true;
  }
  if (now_us() < stream->deadline_us) return false;
  stream_error(stream, "ETIMEDOUT", "freeze");
  return true;
}
