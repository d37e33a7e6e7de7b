#pragma once
// What the parts of the agent share: ports, streams, and how a request is answered. One thread, one event
// loop, all state static: a request allocates nothing, and an idle slot's pages stay untouched.
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/limits.h"
#include "wire/frame.h"
#include "wire/msgpack.h"

struct port {
  int in_fd, out_fd;  // the same for a console, -1 if absent
  bool readable, writable, closed;
  bool held;  // what came in waits for a stream's end
  uint32_t in_length, out_start, out_length;
  uint8_t in[FRAME_HEADER + FRAME_PAYLOAD_MAX];
  uint8_t out[OUT_CAPACITY];
};

enum stream_kind {
  STREAM_FREE,
  STREAM_COMMAND,
  STREAM_AWAIT,
  STREAM_READ,
  STREAM_WRITE,
  STREAM_LIST,
  STREAM_PROCESSES,
  STREAM_WAIT,
  STREAM_FREEZE,
};

/// One of a command's two outputs.
struct output {
  int fd;      // -1 once at its end
  bool ready;  // the last read did not say EAGAIN
  uint64_t kept, dropped;
};

struct command {
  pid_t pid;
  bool exited, timed_out, stdin_end, stdin_ready, dialogue, terminal;
  int status;
  int in_fd, leaf_fd;
  struct output output[2];
  uint64_t limit, start_us, grace_us;
  int64_t oom_kills;
  uint32_t in_start, in_length, granted;
  struct stream* await;
};

struct await {
  struct stream* target;
  bool matched, line_done;
  uint32_t marker_length, seen, line_length;
  uint64_t limit, kept, dropped;
  uint8_t marker[MARKER_MAX];
  uint8_t line[LINE_MAX_BYTES];
};

struct transfer {
  int fd;
  bool spool;
  int error;  // errno of a write that failed; the rest of the data is swallowed
  const char* where;
  uint64_t left, done, size;
  int64_t mtime_s;
  uint32_t mtime_ns, mode;
};

/// As the kernel's getdents64 writes it.
struct folder_entry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

struct listing {
  int fd;
  int64_t offset;  // directory position after the last entry that was sent
  uint32_t count, limit;
  bool kernel, argv;
};

struct stream {
  enum stream_kind kind;
  uint32_t id;
  struct port* port;
  uint64_t credit;
  uint64_t deadline_us;  // 0: none
  union {
    struct command command;
    struct await await;
    struct transfer transfer;
    struct listing listing;
    bool frozen;
  };
};

/// A request being handled: its frame and the reader over its payload.
struct request {
  struct port* port;
  struct frame frame;
  struct mp_reader reader;
};

extern struct port ports[PORTS];
extern struct stream streams[STREAMS_MAX];

// loop.c
/// Serves the ports until the host asks for the end; ports[] must be set up. Returns the process's exit
/// status.
int agent_loop(void);
uint64_t now_us(void);
/// Adds an edge-triggered watch; closing the descriptor ends it. `tag` comes back to watch_event().
enum watch { WATCH_PORT, WATCH_CHILD, WATCH_OUT, WATCH_ERR, WATCH_IN, WATCH_DRAIN, WATCH_CGROUP };
int watch(int fd, uint32_t events, enum watch tag, int index);
/// Leaves the loop with this status once everything is written out.
void loop_end(int status);
#define LOOP_POWEROFF 100

// port.c
void port_fill(struct port* port);
bool port_flush(struct port* port);
bool port_has_room(const struct port* port);
/// Appends a whole frame; the caller has made sure of the room.
void port_send(struct port* port, struct frame frame);
/// Room for a frame's payload inside the port's buffer, to be completed by port_commit.
uint8_t* port_reserve(struct port* port);
void port_commit(struct port* port, struct frame frame);
void port_event(struct port* port, enum event event, const void* payload, uint32_t length);

// stream.c
struct stream* stream_find(struct port* port, uint32_t id);
/// A free slot for the request, or null (EMFILE was replied).
struct stream* stream_open(struct request* request, enum stream_kind kind);
int stream_slot(const struct stream* stream);
void stream_close(struct stream* stream);
void stream_error(struct stream* stream, const char* code, const char* where);
/// Ends every open stream with code `forked`.
uint32_t streams_forked(void);

// reply.c
struct mp_writer reply_start(struct port* port);
void reply_end(struct port* port, uint32_t stream, struct mp_writer* writer);
void reply_error(struct port* port, uint32_t stream, const char* code, const char* where);
void reply_errno(struct port* port, uint32_t stream, int error, const char* where);
void stream_data(struct stream* stream, enum channel channel, uint8_t flags, uint32_t length);
const char* errno_name(int error);

// dispatch.c
/// Handles every whole frame in the port's buffer that there is room to answer; true if there was one.
bool dispatch(struct port* port);
/// For a request's fields: takes the next key, or ends. Usage: `while (next_key(&r, &pairs, &key))`.
bool next_key(struct mp_reader* reader, uint32_t* pairs, struct span* key);
/// Copies a text without NUL bytes of at most capacity - 1 bytes; a fault of the reader otherwise.
void take_text(struct mp_reader* reader, char* text, uint32_t capacity);
/// Marks the reader bad and notes which key was not known.
void unknown_key(struct mp_reader* reader, struct span key);
/// True if the whole payload was read without a fault; else EINVAL was replied.
bool request_done(struct request* request);
/// The fields of an operation that has none.
void empty_request(struct request* request);

// cgroup.c
bool cgroup_controllers(void);

// the operations
void op_exec(struct request* request);
void op_await(struct request* request);
void op_read(struct request* request);
void op_write(struct request* request);
void op_stat(struct request* request);
void op_list(struct request* request);
void op_processes(struct request* request);
void op_wait(struct request* request);
void op_freeze(struct request* request);
void op_warm(struct request* request);
void op_uniqueness(struct request* request);
void op_unplug(struct request* request);
void op_look(struct request* request);

// pumps: move what can be moved, true if something was
bool command_pump(struct stream* stream);
bool await_pump(struct stream* stream);
bool read_pump(struct stream* stream);
bool list_pump(struct stream* stream);
bool processes_pump(struct stream* stream);
bool freeze_pump(struct stream* stream);
/// Lets go of what looks that came together share.
void looks_done(void);
/// Entries of the listing's folder after those already taken, as getdents64 gives them.
long listing_entries(struct listing* listing, void* buffer, uint32_t capacity);
void listing_finish(struct stream* stream, bool more);

void command_data(struct stream* stream, const struct frame* frame);
void command_signal(struct stream* stream, int number);
void command_cancel(struct stream* stream);
void command_resize(struct stream* stream, uint32_t columns, uint32_t rows);
void command_reaped(pid_t pid, int status);
/// Lets go of the command without killing it; what it still writes is drained.
void command_release(struct stream* stream);
void write_data(struct stream* stream, const struct frame* frame);
/// Feeds output of a dialogue's program; returns how many of `count` bytes are to be sent on (moved to the
/// front).
uint32_t await_feed(struct stream* stream, uint8_t* bytes, uint32_t count);
/// The bytes that a finished `write` with `spool` of that stream left, as an open file; -1 with errno ENOENT.
int spool_take(uint32_t stream);
void drain_add(int fd);
void drain_ready(int index);
