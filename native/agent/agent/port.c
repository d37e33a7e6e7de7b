#include <string.h>
#include <unistd.h>

#include "agent/agent.h"

struct port ports[PORTS];

/// Reads what is there, as far as the buffer holds it. Watches are edge-triggered: `readable` stays until
/// EAGAIN.
void port_fill(struct port* port) {
  while (port->readable && port->in_length < sizeof port->in) {
    ssize_t got = read(port->in_fd, port->in + port->in_length, sizeof port->in - port->in_length);
    if (got > 0) {
      port->in_length += (uint32_t)got;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    port->readable = false;
    // A console reads 0 bytes while no host is connected, a pipe when its host is gone for good.
    if (got == 0 && port->in_fd != port->out_fd) port->closed = true;
  }
}

/// Writes what is waiting; true if something went out.
bool port_flush(struct port* port) {
  bool progress = false;
  while (port->out_length > 0 && port->writable) {
    uint32_t count = port->out_length < WRITE_MAX ? port->out_length : WRITE_MAX;
    ssize_t put = write(port->out_fd, port->out + port->out_start, count);
    if (put > 0) {
      port->out_start += (uint32_t)put;
      port->out_length -= (uint32_t)put;
      progress = true;
      continue;
    }
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno != EAGAIN) port->closed = port->in_fd != port->out_fd;
    port->writable = false;
  }
  if (port->out_length == 0) port->out_start = 0;
  return progress;
}

bool port_has_room(const struct port* port) {
  return port->out_length < OUT_FOR_DATA;
}

uint8_t* port_reserve(struct port* port) {
  if (port->out_start > 0 &&
      port->out_start + port->out_length + FRAME_HEADER + DATA_MAX > sizeof port->out) {
    memmove(port->out, port->out + port->out_start, port->out_length);
    port->out_start = 0;
  }
  return port->out + port->out_start + port->out_length + FRAME_HEADER;
}

void port_commit(struct port* port, struct frame frame) {
  frame_header(port->out + port->out_start + port->out_length, &frame);
  port->out_length += FRAME_HEADER + frame.length;
}

void port_send(struct port* port, struct frame frame) {
  uint8_t* payload = port_reserve(port);
  if (frame.length > 0) memcpy(payload, frame.payload, frame.length);
  port_commit(port, frame);
}

void port_event(struct port* port, enum event event, const void* payload, uint32_t length) {
  port_send(port,
            (struct frame){.length = length, .kind = FRAME_EVENT, .op = (uint16_t)event, .payload = payload});
}
