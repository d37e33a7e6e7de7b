// Starting a command for a stream: its pipes or terminal, its cgroup, its deadline.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/exec_request.h"
#include "agent/image_view.h"
#include "agent/spawn.h"

static int null_fd = -1;

/// The agent's ends in `ours`, the command's in `theirs`: standard input, output, error.
struct plumbing {
  int ours[3], theirs[3];
};

static void close_all(int* fds) {
  for (int i = 0; i < 3; i++) {
    // A terminal stands in all three places.
    bool again = (i > 0 && fds[i] == fds[0]) || (i > 1 && fds[i] == fds[1]);
    if (fds[i] >= 0 && fds[i] != null_fd && !again) close(fds[i]);
  }
}

static bool pipe_for(struct plumbing* plumbing, int index) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  int mine = index == 0 ? 1 : 0;
  plumbing->ours[index] = ends[mine];
  plumbing->theirs[index] = ends[1 - mine];
  return fcntl(ends[mine], F_SETFL, O_NONBLOCK | (index == 0 ? O_WRONLY : O_RDONLY)) == 0;
}

static bool connect_pipes(struct plumbing* plumbing, const struct exec_request* exec) {
  if (null_fd < 0) null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (exec->has_stdin || exec->dialogue) {
    if (!pipe_for(plumbing, 0)) return false;
  } else if (exec->spool != 0) {
    plumbing->theirs[0] = spool_take(exec->spool);
    if (plumbing->theirs[0] < 0) return false;
  } else {
    plumbing->theirs[0] = null_fd;
  }
  if (!pipe_for(plumbing, 1)) return false;
  if (exec->merge || exec->dialogue) {
    plumbing->theirs[2] = plumbing->theirs[1];
    return true;
  }
  return pipe_for(plumbing, 2);
}

static bool connect_terminal(struct plumbing* plumbing, const struct exec_request* exec) {
  int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0) return false;
  plumbing->ours[1] = master;
  int unlocked = 0;
  struct winsize size = {.ws_row = (unsigned short)exec->rows, .ws_col = (unsigned short)exec->columns};
  if (ioctl(master, TIOCSPTLCK, &unlocked) != 0 || ioctl(master, TIOCSWINSZ, &size) != 0) return false;
  int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) return false;
  for (int i = 0; i < 3; i++) plumbing->theirs[i] = slave;
  return fchown(slave, exec->user->uid, (gid_t)-1) == 0 || errno == EPERM;
}

static void watch_ends(struct stream* stream) {
  struct command* command = &stream->command;
  int slot = stream_slot(stream);
  for (int i = 0; i < 2; i++) {
    struct output* output = &command->output[i];
    // A terminal is one descriptor for both ways, so it has one watch.
    uint32_t events = command->terminal ? EPOLLIN | EPOLLOUT : EPOLLIN;
    if (output->fd >= 0) watch(output->fd, events, i == 0 ? WATCH_OUT : WATCH_ERR, slot);
  }
  if (command->in_fd >= 0 && !command->terminal) watch(command->in_fd, EPOLLOUT, WATCH_IN, slot);
}

static void fill_command(struct stream* stream, const struct exec_request* exec,
                         const struct plumbing* plumbing, pid_t pid, int leaf_fd) {
  struct command* command = &stream->command;
  *command = (struct command){.pid = pid,
                              .stdin_ready = true,
                              .stdin_end = !(exec->has_stdin || exec->dialogue || exec->terminal),
                              .dialogue = exec->dialogue,
                              .terminal = exec->terminal,
                              .in_fd = plumbing->ours[0],
                              .leaf_fd = leaf_fd,
                              .limit = exec->limit,
                              .start_us = now_us(),
                              .grace_us = UINT64_MAX,
                              .oom_kills = cgroup_oom_kills()};
  command->output[0] = (struct output){.fd = plumbing->ours[1], .ready = true};
  command->output[1] = (struct output){.fd = plumbing->ours[2], .ready = true};
  if (exec->terminal) command->in_fd = plumbing->ours[1];
  if (exec->timeout_ms > 0) stream->deadline_us = command->start_us + (uint64_t)exec->timeout_ms * 1000u;
}

void op_exec(struct request* request) {
  struct exec_request* exec = exec_parse(request);
  if (exec == NULL) return;
  int image_namespace = -1;
  if (exec->image) {
    const char* step = "image";
    image_namespace = image_view(&step);
    if (image_namespace < 0) {
      reply_errno(request->port, request->frame.stream, -image_namespace, step);
      return;
    }
  }
  struct stream* stream = stream_open(request, STREAM_COMMAND);
  if (stream == NULL) return;
  struct plumbing plumbing = {{-1, -1, -1}, {-1, -1, -1}};
  int port = (int)(request->port - ports);
  struct spawn start = {.argv = exec->argv,
                        .envp = exec->envp,
                        .cwd = exec->cwd[0] != 0 ? exec->cwd : NULL,
                        .path = exec->path,
                        .user = exec->user,
                        .terminal = exec->terminal,
                        .leaf_fd = cgroup_leaf(port, stream_slot(stream)),
                        .image_namespace = image_namespace,
                        .failed = exec->spool != 0 ? "spool" : "pipe"};
  pid_t pid = -1;
  if (exec->terminal ? connect_terminal(&plumbing, exec) : connect_pipes(&plumbing, exec)) {
    for (int i = 0; i < 3; i++) start.fds[i] = plumbing.theirs[i];
    pid = spawn(&start);
  } else {
    start.error = errno;
  }
  close_all(plumbing.theirs);
  if (pid < 0) {
    close_all(plumbing.ours);
    stream->kind = STREAM_FREE;
    reply_errno(request->port, request->frame.stream, start.error, start.failed);
    return;
  }
  fill_command(stream, exec, &plumbing, pid, start.leaf_fd);
  watch_ends(stream);
}
