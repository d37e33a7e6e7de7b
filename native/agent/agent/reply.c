#include <stdio.h>
#include <string.h>

#include "agent/agent.h"

struct mp_writer reply_start(struct port* port) {
  struct mp_writer writer;
  mp_start(&writer, port_reserve(port), REPLY_MAX);
  return writer;
}

void reply_end(struct port* port, uint32_t stream, struct mp_writer* writer) {
  port_commit(
      port,
      (struct frame){.length = writer->length, .stream = stream, .kind = FRAME_REPLY, .flags = FRAME_FINAL});
}

void reply_error(struct port* port, uint32_t stream, const char* code, const char* where) {
  struct mp_writer writer = reply_start(port);
  mp_put_map(&writer, 2);
  mp_put_str(&writer, "code");
  mp_put_str(&writer, code);
  mp_put_str(&writer, "where");
  mp_put_str(&writer, where);
  port_commit(port, (struct frame){.length = writer.length,
                                   .stream = stream,
                                   .kind = FRAME_REPLY,
                                   .flags = FRAME_FINAL | FRAME_ERROR});
}

void reply_errno(struct port* port, uint32_t stream, int error, const char* where) {
  reply_error(port, stream, errno_name(error), where);
}

void stream_data(struct stream* stream, enum channel channel, uint8_t flags, uint32_t length) {
  port_commit(stream->port, (struct frame){.length = length,
                                           .stream = stream->id,
                                           .kind = FRAME_DATA,
                                           .flags = flags,
                                           .op = (uint16_t)channel});
}

const char* errno_name(int error) {
  const char* name = strerrorname_np(error);
  return name != NULL ? name : "EIO";
}
