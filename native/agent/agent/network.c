// The network half of the uniqueness step: the link goes down, the card gets its addresses, the link comes up
// again. So whoever watches the link learns that this is another station now, and the kernel forgets routes
// and neighbours.
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/identity.h"

#define CARD "eth0"
#define MAC_BYTES 6
#define PREFIX_MAX 32

static int socket_fd = -1;
// By number, not by name: a workload that renames it does not hide it.
static int card;
// Taken down by `unplug`, and to be up again after the next step.
static bool unplugged;

void network_prepare(void) {
#ifndef HOST_TEST
  // Asking for a device that is not there makes the kernel start modprobe.
  if (access("/sys/class/net/" CARD, F_OK) != 0) return;
  socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  card = (int)if_nametoindex(CARD);
#endif
}

/// The text's address and, after a slash, its prefix length; -1 where none is given. 0 or an errno.
static int parse(const char* text, struct in_addr* address, int* prefix) {
  char plain[INET_ADDRSTRLEN];
  const char* slash = strchr(text, '/');
  size_t length = slash == NULL ? strlen(text) : (size_t)(slash - text);
  if (length >= sizeof plain) return EINVAL;
  memcpy(plain, text, length);
  plain[length] = 0;
  if (inet_pton(AF_INET, plain, address) != 1) return EINVAL;
  *prefix = -1;
  if (slash == NULL) return 0;
  char* end;
  long bits = strtol(slash + 1, &end, 10);
  if (end == slash + 1 || *end != 0 || bits < 0 || bits > PREFIX_MAX) return EINVAL;
  *prefix = (int)bits;
  return 0;
}

static int put_address(struct ifreq* request, unsigned long call, struct in_addr address) {
  struct sockaddr_in socket_address = {.sin_family = AF_INET, .sin_addr = address};
  memcpy(&request->ifr_addr, &socket_address, sizeof socket_address);
  return ioctl(socket_fd, call, request) == 0 ? 0 : errno;
}

static int set_ip(struct ifreq* request, const char* text) {
  struct in_addr address, mask;
  int prefix;
  int error = parse(text, &address, &prefix);
  if (error == 0) error = put_address(request, SIOCSIFADDR, address);
  if (error != 0 || prefix < 0) return error;
  mask.s_addr = prefix == 0 ? 0 : htonl(UINT32_MAX << (PREFIX_MAX - prefix));
  return put_address(request, SIOCSIFNETMASK, mask);
}

static int set_flags(struct ifreq* request, short flags) {
  request->ifr_flags = flags;
  return ioctl(socket_fd, SIOCSIFFLAGS, request) == 0 ? 0 : errno;
}

static int set_mac(struct ifreq* request, const uint8_t* mac) {
  memset(&request->ifr_hwaddr, 0, sizeof request->ifr_hwaddr);
  request->ifr_hwaddr.sa_family = ARPHRD_ETHER;
  memcpy(request->ifr_hwaddr.sa_data, mac, MAC_BYTES);
  return ioctl(socket_fd, SIOCSIFHWADDR, request) == 0 ? 0 : errno;
}

/// Fills in the card's present name and flags. False if it is not there.
static bool find_card(struct ifreq* request, int* error) {
  *error = 0;
  *request = (struct ifreq){.ifr_ifindex = card};
  if (card == 0 || ioctl(socket_fd, SIOCGIFNAME, request) != 0) return false;
  if (ioctl(socket_fd, SIOCGIFFLAGS, request) != 0) *error = errno;
  return true;
}

int identity_network(const uint8_t* mac, const char* ip, const char** state) {
  struct ifreq request;
  int error;
  *state = "absent";
  if (!find_card(&request, &error) || error != 0) return error;
  const short flags = request.ifr_flags;
  const bool is_up = (flags & IFF_UP) != 0;
  if (is_up && mac != NULL) error = set_flags(&request, (short)(flags & ~IFF_UP));
  if (error == 0 && mac != NULL) error = set_mac(&request, mac);
  if (error == 0 && ip[0] != 0) error = set_ip(&request, ip);
  // One that the workload has taken down stays down.
  if (error == 0 && ((is_up && mac != NULL) || unplugged))
    error = set_flags(&request, (short)(flags | IFF_UP));
  if (error != 0) return error;
  unplugged = false;
  *state = "set";
  return 0;
}

/// Asked before a golden is frozen: what is done here, no fork has to do.
void op_unplug(struct request* request) {
  empty_request(request);
  if (!request_done(request)) return;
  struct ifreq card_request;
  int error;
  if (find_card(&card_request, &error) && error == 0 && (card_request.ifr_flags & IFF_UP) != 0) {
    error = set_flags(&card_request, (short)(card_request.ifr_flags & ~IFF_UP));
    unplugged = error == 0;
  }
  if (error != 0) {
    reply_errno(request->port, request->frame.stream, error, "link");
    return;
  }
  cgroup_learn();
  struct mp_writer writer = reply_start(request->port);
  mp_put_map(&writer, 0);
  reply_end(request->port, request->frame.stream, &writer);
}
