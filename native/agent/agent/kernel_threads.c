#include "agent/kernel_threads.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/proc.h"

#define KERNEL_THREADS_MAX 256
#define ENDED_MAX 16

// 0: free. Slots are taken from below, so the order is mostly that of their age.
static int pids[KERNEL_THREADS_MAX];
static uint32_t used, count, hint;
// Tells which have ended. What it watches are descriptors of processes, and those lie in a message that
// nobody reads: there they stay open, and no command that the agent starts has to inherit and close them.
static int ends_fd = -1, messages[2] = {-1, -1};

static void forget_all(void) {
  for (int i = 0; i < 2; i++) {
    if (messages[i] >= 0) close(messages[i]);
    messages[i] = -1;
  }
  if (ends_fd >= 0) close(ends_fd);
  ends_fd = -1;
  used = count = hint = 0;
}

static bool begin(void) {
  if (ends_fd >= 0) return true;
  ends_fd = epoll_create1(EPOLL_CLOEXEC);
  if (ends_fd >= 0 && socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, messages) == 0)
    return true;
  forget_all();
  return false;
}

static bool leave_in_message(int fd) {
  char byte = 0, control[CMSG_SPACE(sizeof fd)];
  memset(control, 0, sizeof control);
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  return sendmsg(messages[0], &message, 0) == 1;
}

/// Takes the number down; the descriptor of its process is used up. On any fault it is just not remembered.
static void remember(int pid, int process) {
  uint32_t slot = 0;
  while (slot < used && pids[slot] != 0) slot++;
  struct epoll_event event = {.events = EPOLLIN | EPOLLET | EPOLLONESHOT, .data.u32 = slot};
  if (slot < KERNEL_THREADS_MAX && epoll_ctl(ends_fd, EPOLL_CTL_ADD, process, &event) == 0) {
    if (leave_in_message(process)) {
      pids[slot] = pid;
      count++;
      if (slot == used) used++;
    } else {
      // Messages of those that ended have filled the socket: all that live are looked at again.
      forget_all();
    }
  }
  close(process);
}

uint32_t kernel_threads_count(void) {
  struct epoll_event ended[ENDED_MAX];
  for (int got; ends_fd >= 0 && (got = epoll_wait(ends_fd, ended, ENDED_MAX, 0)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      forget_all();
      break;
    }
    for (int i = 0; i < got; i++) {
      pids[ended[i].data.u32] = 0;
      count--;
    }
  }
  return count;
}

bool kernel_thread_known(int pid) {
  for (uint32_t i = 0; i < used; i++) {
    uint32_t at = (hint + i) % used;
    if (pids[at] != pid) continue;
    hint = at + 1;
    return true;
  }
  return false;
}

bool kernel_thread_look(int proc, int pid) {
  static char text[1024];
  char name[16];
  struct process process;
  if (kernel_thread_known(pid)) return true;
  snprintf(name, sizeof name, "%d", pid);
  // Held before it is looked at: should it end in between and another get its number, the end is noticed.
  int held = begin() ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
  bool found = proc_read(proc, name, "stat", text, sizeof text) > 0 && proc_parse(text, &process) &&
               (process.flags & KERNEL_THREAD) != 0;
  if (held >= 0 && found)
    remember(pid, held);
  else if (held >= 0)
    close(held);
  return found;
}
