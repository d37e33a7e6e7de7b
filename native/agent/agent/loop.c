#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"

#define EVENTS_MAX 64

static int epoll_fd = -1;
static int exit_status = -1;

uint64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

int watch(int fd, uint32_t events, enum watch tag, int index) {
  struct epoll_event event = {.events = events | EPOLLET, .data.u64 = (uint64_t)tag << 32 | (uint32_t)index};
  int result = epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
  return result != 0 && errno == EEXIST ? epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &event) : result;
}

void loop_end(int status) {
  exit_status = status;
}

/// Milliseconds until the first deadline, rounded up; -1 if there is none.
static int timeout_ms(void) {
  uint64_t first = UINT64_MAX;
  for (int i = 0; i < STREAMS_MAX; i++) {
    const struct stream* stream = &streams[i];
    if (stream->kind == STREAM_FREE) continue;
    if (stream->deadline_us != 0 && stream->deadline_us < first) first = stream->deadline_us;
    if (stream->kind == STREAM_COMMAND && stream->command.exited && stream->command.grace_us < first)
      first = stream->command.grace_us;
  }
  if (first == UINT64_MAX) return -1;
  uint64_t now = now_us();
  if (first <= now) return 0;
  uint64_t wait = (first - now + 999) / 1000;
  return wait > 1000000 ? 1000000 : (int)wait;
}

static void reap(int signal_fd) {
  struct signalfd_siginfo info;
  while (read(signal_fd, &info, sizeof info) > 0) continue;
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) command_reaped(pid, status);
}

static void handle(const struct epoll_event* event, int signal_fd) {
  enum watch tag = (enum watch)(event->data.u64 >> 32);
  int index = (int)(uint32_t)event->data.u64;
  // An event may be of a descriptor that was closed in this same batch and whose slot has a new owner: all it
  // does there is to cause one read that finds nothing.
  struct stream* stream = &streams[index % STREAMS_MAX];
  switch (tag) {
    case WATCH_PORT:
      if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR)) ports[index].readable = true;
      if (event->events & (EPOLLOUT | EPOLLERR)) ports[index].writable = true;
      break;
    case WATCH_CHILD:
      reap(signal_fd);
      break;
    case WATCH_OUT:
      if (stream->kind != STREAM_COMMAND) break;
      stream->command.output[0].ready = true;
      if (stream->command.terminal) stream->command.stdin_ready = true;
      break;
    case WATCH_ERR:
      if (stream->kind == STREAM_COMMAND) stream->command.output[1].ready = true;
      break;
    case WATCH_IN:
      if (stream->kind == STREAM_COMMAND) stream->command.stdin_ready = true;
      break;
    case WATCH_DRAIN:
      drain_ready(index);
      break;
    case WATCH_CGROUP:
      break;  // freeze_pump looks by itself
  }
}

static bool pump(struct stream* stream) {
  switch (stream->kind) {
    case STREAM_COMMAND:
      return command_pump(stream);
    case STREAM_AWAIT:
      return await_pump(stream);
    case STREAM_READ:
      return read_pump(stream);
    case STREAM_LIST:
      return list_pump(stream);
    case STREAM_PROCESSES:
      return processes_pump(stream);
    case STREAM_FREEZE:
      return freeze_pump(stream);
    case STREAM_WAIT: {
      if (now_us() < stream->deadline_us) return false;
      struct mp_writer writer = reply_start(stream->port);
      mp_put_map(&writer, 0);
      reply_end(stream->port, stream->id, &writer);
      stream_close(stream);
      return true;
    }
    default:
      return false;
  }
}

static bool work(void) {
  bool progress = false;
  for (int i = 0; i < PORTS; i++) {
    if (ports[i].in_fd < 0) continue;
    progress |= port_flush(&ports[i]);
    port_fill(&ports[i]);
    progress |= dispatch(&ports[i]);
  }
  for (int i = 0; i < STREAMS_MAX; i++)
    if (streams[i].kind != STREAM_FREE && port_has_room(streams[i].port)) progress |= pump(&streams[i]);
  return progress;
}

static int child_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, NULL);
  signal(SIGPIPE, SIG_IGN);
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int agent_loop(void) {
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  int signal_fd = child_signals();
  if (epoll_fd < 0 || signal_fd < 0 || watch(signal_fd, EPOLLIN, WATCH_CHILD, 0) != 0) return 1;
  for (int i = 0; i < PORTS; i++) {
    if (ports[i].in_fd < 0) continue;
    ports[i].readable = ports[i].writable = true;
    // A regular file (a test's input) cannot be watched and is always ready.
    if (ports[i].in_fd == ports[i].out_fd) {
      watch(ports[i].in_fd, EPOLLIN | EPOLLOUT, WATCH_PORT, i);
    } else {
      watch(ports[i].in_fd, EPOLLIN, WATCH_PORT, i);
      watch(ports[i].out_fd, EPOLLOUT, WATCH_PORT, i);
    }
    uint8_t payload[16];
    struct mp_writer writer;
    mp_start(&writer, payload, sizeof payload);
    mp_put_map(&writer, 1);
    mp_put_str(&writer, "protocol");
    mp_put_int(&writer, 1);
    port_event(&ports[i], EVENT_READY, payload, writer.length);
  }
  for (;;) {
    while (work()) continue;
    bool waiting = false;
    for (int i = 0; i < PORTS; i++) {
      waiting |= ports[i].in_fd >= 0 && ports[i].out_length > 0 && !ports[i].closed;
      if (ports[i].closed && exit_status < 0) exit_status = 0;
    }
    if (exit_status >= 0 && !waiting) return exit_status;
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(epoll_fd, events, EVENTS_MAX, timeout_ms());
    for (int i = 0; i < count; i++) handle(&events[i], signal_fd);
  }
}
