// Outputs that outlive their command: a process in the background still holds the pipe, and would die of
// SIGPIPE if nobody read it. What it writes is thrown away.
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/agent.h"

static int drains[DRAINS_MAX];  // descriptor + 1, so that 0 is a free place
static int oldest;

void drain_add(int fd) {
  int place = -1;
  for (int i = 0; i < DRAINS_MAX && place < 0; i++)
    if (drains[i] == 0) place = i;
  if (place < 0) {
    place = oldest;
    oldest = (oldest + 1) % DRAINS_MAX;
    close(drains[place] - 1);
  }
  drains[place] = fd + 1;
  watch(fd, EPOLLIN, WATCH_DRAIN, place);
  drain_ready(place);
}

void drain_ready(int index) {
  static uint8_t rubbish[WRITE_MAX];
  if (index >= DRAINS_MAX || drains[index] == 0) return;
  for (;;) {
    ssize_t got = read(drains[index] - 1, rubbish, sizeof rubbish);
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    if (got < 0 && errno == EAGAIN) return;
    close(drains[index] - 1);
    drains[index] = 0;
    return;
  }
}
