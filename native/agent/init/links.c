#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "init/init.h"

#define CARD "eth0"

static void up(int fd, const char* name) {
  struct ifreq request = {0};
  strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  if (ioctl(fd, SIOCGIFFLAGS, &request) == 0) {
    request.ifr_flags |= IFF_UP | IFF_RUNNING;
    if (ioctl(fd, SIOCSIFFLAGS, &request) != 0) boot_log("%s: %s", name, strerror(errno));
  }
}

static void set(const char* path, const char* value) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, value, strlen(value)) < 0) boot_log("%s: %s", path, strerror(errno));
  close(fd);
}

/// What the card's link does by itself, at boot and in every fork.
static void quiet(void) {
  // With IPv6 it would look for routers and for its own address, and report its groups. Nobody answers here,
  // and a machine that waits has nothing to do. Who needs it turns it on.
  set("/proc/sys/net/ipv6/conf/" CARD "/disable_ipv6", "1");
  // Debian's fq_codel clears its thousand flows whenever the link goes down: 16 pages that each fork would
  // own.
  set("/proc/sys/net/core/default_qdisc", "pfifo_fast");
}

void links_up(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  up(fd, "lo");
  // Asking for a device that is not there makes the kernel start modprobe.
  if (access("/sys/class/net/" CARD, F_OK) == 0) {
    quiet();
    up(fd, CARD);
  }
  close(fd);
}
