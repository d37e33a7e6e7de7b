#include <string.h>

#include "agent/agent.h"

static char fault_where[NAME_BYTES];

static void note(const char* text, struct span key) {
  size_t used = strlen(text);
  size_t count = key.length < NAME_BYTES - 1 - used ? key.length : NAME_BYTES - 1 - used;
  memcpy(fault_where, text, used);
  for (size_t i = 0; i < count; i++)
    fault_where[used + i] = key.at[i] >= 0x20 && key.at[i] < 0x7f ? (char)key.at[i] : '?';
  fault_where[used + count] = 0;
}

bool next_key(struct mp_reader* reader, uint32_t* pairs, struct span* key) {
  if (*pairs == 0 || reader->bad) return false;
  (*pairs)--;
  *key = mp_str(reader);
  if (!reader->bad) note("", *key);
  return !reader->bad;
}

void unknown_key(struct mp_reader* reader, struct span key) {
  note("unknown key ", key);
  reader->bad = true;
}

void take_text(struct mp_reader* reader, char* text, uint32_t capacity) {
  struct span span = mp_str(reader);
  if (reader->bad || span.length >= capacity || memchr(span.at, 0, span.length) != NULL) {
    reader->bad = true;
    text[0] = 0;
    return;
  }
  memcpy(text, span.at, span.length);
  text[span.length] = 0;
}

bool request_done(struct request* request) {
  if (!request->reader.bad && request->reader.at == request->reader.end) return true;
  reply_error(request->port, request->frame.stream, "EINVAL", fault_where[0] != 0 ? fault_where : "request");
  return false;
}

static void fault(struct port* port, const char* where) {
  uint8_t payload[NAME_BYTES + 16];
  struct mp_writer writer;
  mp_start(&writer, payload, sizeof payload);
  mp_put_map(&writer, 1);
  mp_put_str(&writer, "where");
  mp_put_str(&writer, where);
  port_event(port, EVENT_FAULT, payload, writer.length);
  loop_end(1);
}

void empty_request(struct request* request) {
  uint32_t pairs = mp_map(&request->reader);
  struct span key;
  while (next_key(&request->reader, &pairs, &key)) unknown_key(&request->reader, key);
}

static void op_hello(struct request* request) {
  empty_request(request);
  if (!request_done(request)) return;
  struct mp_writer writer = reply_start(request->port);
  mp_put_map(&writer, 4);
  mp_put_str(&writer, "protocol");
  mp_put_int(&writer, 1);
  mp_put_str(&writer, "ports");
  mp_put_int(&writer, (ports[0].in_fd >= 0) + (ports[1].in_fd >= 0));
  mp_put_str(&writer, "host_test");
#ifdef HOST_TEST
  mp_put_bool(&writer, true);
#else
  mp_put_bool(&writer, false);
#endif
  mp_put_str(&writer, "controllers");
  mp_put_bool(&writer, cgroup_controllers());
  reply_end(request->port, request->frame.stream, &writer);
}

static void op_poweroff(struct request* request) {
  empty_request(request);
  if (!request_done(request)) return;
  struct mp_writer writer = reply_start(request->port);
  mp_put_map(&writer, 0);
  reply_end(request->port, request->frame.stream, &writer);
  loop_end(LOOP_POWEROFF);
}

static void handle_request(struct request* request) {
  static void (*const operations[])(struct request*) = {
      [OP_HELLO] = op_hello,
      [OP_EXEC] = op_exec,
      [OP_AWAIT] = op_await,
      [OP_READ] = op_read,
      [OP_WRITE] = op_write,
      [OP_STAT] = op_stat,
      [OP_LIST] = op_list,
      [OP_PROCESSES] = op_processes,
      [OP_WAIT] = op_wait,
      [OP_FREEZE] = op_freeze,
      [OP_WARM] = op_warm,
      [OP_POWEROFF] = op_poweroff,
      [OP_UNIQUENESS] = op_uniqueness,
      [OP_UNPLUG] = op_unplug,
      [OP_LOOK] = op_look,
  };
  uint16_t op = request->frame.op;
  if (stream_find(request->port, request->frame.stream) != NULL) {
    fault(request->port, "stream in use");
    return;
  }
  fault_where[0] = 0;
  if (op == 0 || op >= sizeof operations / sizeof operations[0])
    reply_errno(request->port, request->frame.stream, ENOSYS, "op");
  else
    operations[op](request);
}

static void handle_control(struct request* request) {
  struct stream* stream = stream_find(request->port, request->frame.stream);
  if (stream == NULL) return;
  struct mp_reader* reader = &request->reader;
  switch (request->frame.op) {
    case CONTROL_CREDIT:
      stream->credit += request->frame.credit;
      break;
    case CONTROL_SIGNAL: {
      int number = (int)mp_between(reader, 1, 64);
      if (stream->kind == STREAM_COMMAND && !reader->bad) command_signal(stream, number);
      break;
    }
    case CONTROL_RESIZE: {
      if (mp_array(reader) != 2) reader->bad = true;
      uint32_t columns = (uint32_t)mp_between(reader, 1, 65535);
      uint32_t rows = (uint32_t)mp_between(reader, 1, 65535);
      if (stream->kind == STREAM_COMMAND && !reader->bad) command_resize(stream, columns, rows);
      break;
    }
    case CONTROL_CANCEL:
      if (stream->kind == STREAM_COMMAND)
        command_cancel(stream);
      else
        stream_error(stream, "ECANCELED", "cancel");
      break;
    default:
      reader->bad = true;
  }
  if (reader->bad) fault(request->port, "control");
}

static void handle_data(struct request* request) {
  struct stream* stream = stream_find(request->port, request->frame.stream);
  if (stream == NULL) return;
  if (stream->kind == STREAM_COMMAND)
    command_data(stream, &request->frame);
  else if (stream->kind == STREAM_WRITE)
    write_data(stream, &request->frame);
  else
    fault(request->port, "data");
}

bool dispatch(struct port* port) {
  uint32_t used = 0;
  while (!port->held && port_has_room(port)) {
    struct request request = {.port = port};
    enum frame_status status = frame_parse(port->in + used, port->in_length - used, &request.frame);
    if (status == FRAME_PARTIAL) break;
    if (status == FRAME_BROKEN) {
      fault(port, "frame");
      used = port->in_length;
      break;
    }
    mp_open(&request.reader, request.frame.payload, request.frame.length);
    if (request.frame.kind == FRAME_REQUEST)
      handle_request(&request);
    else if (request.frame.kind == FRAME_CONTROL)
      handle_control(&request);
    else
      handle_data(&request);
    used += FRAME_HEADER + request.frame.length;
  }
  if (used == 0) return false;
  looks_done();
  port->in_length -= used;
  memmove(port->in, port->in + used, port->in_length);
  return true;
}
