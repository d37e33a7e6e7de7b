#include <unistd.h>

#include "agent/agent.h"

struct stream streams[STREAMS_MAX];

struct stream* stream_find(struct port* port, uint32_t id) {
  for (int i = 0; i < STREAMS_MAX; i++)
    if (streams[i].kind != STREAM_FREE && streams[i].id == id && streams[i].port == port) return &streams[i];
  return NULL;
}

struct stream* stream_open(struct request* request, enum stream_kind kind) {
  // The lowest free slot, so that the pages of slots that were used before are used again.
  for (int i = 0; i < STREAMS_MAX; i++) {
    if (streams[i].kind != STREAM_FREE) continue;
    streams[i].kind = kind;
    streams[i].id = request->frame.stream;
    streams[i].port = request->port;
    streams[i].credit = request->frame.credit;
    streams[i].deadline_us = 0;
    return &streams[i];
  }
  reply_errno(request->port, request->frame.stream, EMFILE, "stream");
  return NULL;
}

int stream_slot(const struct stream* stream) {
  return (int)(stream - streams);
}

void stream_close(struct stream* stream) {
  switch (stream->kind) {
    case STREAM_READ:
    case STREAM_WRITE:
      if (stream->transfer.fd >= 0) close(stream->transfer.fd);
      break;
    case STREAM_LIST:
    case STREAM_PROCESSES:
      close(stream->listing.fd);
      break;
    case STREAM_AWAIT:
      if (stream->await.target != NULL) stream->await.target->command.await = NULL;
      break;
    case STREAM_COMMAND:
      command_release(stream);
      break;
    case STREAM_FREEZE:
      stream->port->held = false;
      break;
    default:
      break;
  }
  stream->kind = STREAM_FREE;
}

void stream_error(struct stream* stream, const char* code, const char* where) {
  struct port* port = stream->port;
  uint32_t id = stream->id;
  stream_close(stream);
  reply_error(port, id, code, where);
}

uint32_t streams_forked(void) {
  uint32_t count = 0;
  for (int i = 0; i < STREAMS_MAX; i++) {
    if (streams[i].kind == STREAM_FREE) continue;
    stream_error(&streams[i], "forked", "stream");
    count++;
  }
  return count;
}
