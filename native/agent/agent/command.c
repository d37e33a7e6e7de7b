// A running command: what flows in and out of it, its deadline, and its end.
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cgroup.h"

#define GRANT_STEP (STDIN_WINDOW / 4)
#define END_OF_TRANSMISSION 4

// What was received but does not fit into the command's pipe yet, for each stream slot.
static uint8_t stdin_bytes[STREAMS_MAX][STDIN_WINDOW];

static void close_stdin(struct command* command) {
  if (command->in_fd >= 0 && !command->terminal) close(command->in_fd);
  command->in_fd = -1;
}

static void grant(struct stream* stream, uint32_t count) {
  struct command* command = &stream->command;
  command->granted += count;
  if (command->granted < GRANT_STEP || command->stdin_end) return;
  port_send(
      stream->port,
      (struct frame){
          .stream = stream->id, .kind = FRAME_CONTROL, .op = CONTROL_CREDIT, .credit = command->granted});
  command->granted = 0;
}

static bool pump_stdin(struct stream* stream) {
  struct command* command = &stream->command;
  uint8_t* bytes = stdin_bytes[stream_slot(stream)];
  bool progress = false;
  while (command->in_length > 0 && command->stdin_ready) {
    ssize_t put = command->in_fd < 0 ? (ssize_t)command->in_length
                                     : write(command->in_fd, bytes + command->in_start, command->in_length);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) {
      command->stdin_ready = false;
      break;
    }
    if (put < 0) {
      // Nobody reads any more: what comes is thrown away.
      close_stdin(command);
      continue;
    }
    command->in_start += (uint32_t)put;
    command->in_length -= (uint32_t)put;
    grant(stream, (uint32_t)put);
    progress = true;
  }
  if (command->in_length == 0) {
    command->in_start = 0;
    if (command->stdin_end && command->in_fd >= 0 && !command->terminal) close_stdin(command);
  }
  return progress;
}

void command_data(struct stream* stream, const struct frame* frame) {
  struct command* command = &stream->command;
  uint8_t* bytes = stdin_bytes[stream_slot(stream)];
  bool end = (frame->flags & FRAME_END) != 0;
  uint32_t extra = end && command->terminal ? 1 : 0;
  if (command->stdin_end || frame->length + extra > STDIN_WINDOW - command->in_length) {
    // More than the window allows: the command cannot be fed truthfully any more.
    command_signal(stream, SIGKILL);
    return;
  }
  if (command->in_start > 0) {
    memmove(bytes, bytes + command->in_start, command->in_length);
    command->in_start = 0;
  }
  memcpy(bytes + command->in_length, frame->payload, frame->length);
  command->in_length += frame->length;
  if (extra > 0) bytes[command->in_length++] = END_OF_TRANSMISSION;
  if (end) command->stdin_end = true;
}

void command_signal(struct stream* stream, int number) {
  struct command* command = &stream->command;
  if (number == SIGKILL) cgroup_kill(command->leaf_fd);
  if (!command->exited) kill(-command->pid, number);
}

void command_cancel(struct stream* stream) {
  stream->command.limit = 0;  // what it still writes waits for no credit
  command_signal(stream, SIGKILL);
}

void command_resize(struct stream* stream, uint32_t columns, uint32_t rows) {
  struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
  if (stream->command.terminal && stream->command.output[0].fd >= 0)
    ioctl(stream->command.output[0].fd, TIOCSWINSZ, &size);
}

void command_reaped(pid_t pid, int status) {
  for (int i = 0; i < STREAMS_MAX; i++) {
    if (streams[i].kind != STREAM_COMMAND || streams[i].command.pid != pid || streams[i].command.exited)
      continue;
    struct command* command = &streams[i].command;
    command->exited = true;
    command->status = status;
    // One more look at what it wrote last.
    for (int j = 0; j < 2; j++) command->output[j].ready = command->output[j].fd >= 0;
    return;
  }
}

/// Bytes that may be read from the output now, 0 if none; `*sent` says whether they go to the host.
static uint64_t allowance(const struct stream* stream, const struct output* output, bool* sent) {
  const struct command* command = &stream->command;
  if (command->dialogue) {
    *sent = true;
    return command->await != NULL ? DATA_MAX - MARKER_MAX : 0;
  }
  *sent = output->kept < command->limit;
  if (!*sent) return DATA_MAX;
  uint64_t most = command->limit - output->kept;
  if (most > stream->credit) most = stream->credit;
  return most < DATA_MAX ? most : DATA_MAX;
}

static void close_output(struct command* command, struct output* output) {
  close(output->fd);
  output->fd = -1;
  output->ready = false;
  if (command->terminal) command->in_fd = -1;
}

static bool pump_output(struct stream* stream, int index) {
  struct command* command = &stream->command;
  struct output* output = &command->output[index];
  bool progress = false;
  while (output->fd >= 0 && output->ready && port_has_room(stream->port)) {
    bool sent;
    uint64_t most = allowance(stream, output, &sent);
    if (most == 0) break;
    uint8_t* bytes = port_reserve(stream->port);
    ssize_t got = read(output->fd, bytes + (command->dialogue ? MARKER_MAX : 0), most);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      output->ready = false;
      break;
    }
    if (got < 0 && command->terminal && !command->exited) {
      // EIO: nobody has the terminal open, as when a program closes its files before it exits. Closing our
      // end now would hang up on it, and its exit code would be a signal.
      output->ready = false;
      break;
    }
    progress = true;
    if (got <= 0) {
      close_output(command, output);
      break;
    }
    uint32_t count = (uint32_t)got;
    if (command->dialogue) {
      count = await_feed(command->await, bytes, count);
    } else if (sent) {
      output->kept += count;
      stream->credit -= count;
    } else {
      output->dropped += count;
      count = 0;
    }
    if (count > 0) stream_data(stream, index == 0 ? CHANNEL_OUT : CHANNEL_ERR, 0, count);
    if (command->dialogue && (command->await == NULL || command->await->await.line_done)) break;
  }
  return progress;
}

void command_release(struct stream* stream) {
  struct command* command = &stream->command;
  close_stdin(command);
  for (int i = 0; i < 2; i++) {
    int fd = command->output[i].fd;
    if (fd < 0) continue;
    command->output[i].fd = -1;
    if (command->terminal)
      close(fd);  // the terminal hangs up
    else
      drain_add(fd);
  }
  if (command->await != NULL) command->await->await.target = NULL;
  cgroup_leave_behind((int)(stream->port - ports), command->leaf_fd);
}

static void finish(struct stream* stream) {
  struct command ended = stream->command;
  uint64_t us = now_us() - ended.start_us;
  int64_t oom_kills = cgroup_oom_kills();
  struct port* port = stream->port;
  uint32_t id = stream->id;
  stream_close(stream);
  struct mp_writer writer = reply_start(port);
  mp_put_map(&writer, 6);
  mp_put_str(&writer, "exit");
  if (WIFEXITED(ended.status))
    mp_put_int(&writer, WEXITSTATUS(ended.status));
  else
    mp_put_nil(&writer);
  mp_put_str(&writer, "signal");
  if (WIFSIGNALED(ended.status))
    mp_put_int(&writer, WTERMSIG(ended.status));
  else
    mp_put_nil(&writer);
  mp_put_str(&writer, "timedOut");
  mp_put_bool(&writer, ended.timed_out);
  mp_put_str(&writer, "oomKilled");
  mp_put_bool(&writer, oom_kills > ended.oom_kills && ended.oom_kills >= 0);
  mp_put_str(&writer, "dropped");
  mp_put_array(&writer, 2);
  mp_put_int(&writer, (int64_t)ended.output[0].dropped);
  mp_put_int(&writer, (int64_t)ended.output[1].dropped);
  mp_put_str(&writer, "us");
  mp_put_int(&writer, (int64_t)us);
  reply_end(port, id, &writer);
}

/// True if the process has ended and nothing more is to be read from its output, or only from what others
/// keep open too long.
static bool is_over(struct stream* stream) {
  struct command* command = &stream->command;
  if (!command->exited) return false;
  if (command->dialogue && command->await == NULL) return true;
  const struct output* output = command->output;
  if (output[0].fd < 0 && output[1].fd < 0) return true;
  if (output[0].ready || output[1].ready) return false;
  uint64_t now = now_us();
  if (command->grace_us == UINT64_MAX) command->grace_us = now + OUTPUT_GRACE_US;
  return now >= command->grace_us;
}

bool command_pump(struct stream* stream) {
  struct command* command = &stream->command;
  bool progress = pump_stdin(stream);
  progress |= pump_output(stream, 0);
  progress |= pump_output(stream, 1);
  if (!port_has_room(stream->port)) return progress;
  if (stream->deadline_us != 0 && now_us() >= stream->deadline_us) {
    stream->deadline_us = 0;
    command->timed_out = !command->exited;
    command_signal(stream, SIGKILL);
  }
  if (!is_over(stream)) return progress;
  finish(stream);
  return true;
}
