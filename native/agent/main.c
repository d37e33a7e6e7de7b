// One binary, two roles: pid 1 of a machine, and the agent that it starts. Built with HOST_TEST it is the
// agent alone, speaking the protocol on standard input and output (port 0) and on descriptor 3 if that is
// open (port 1).
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/hooks.h"
#include "agent/identity.h"
#include "init/init.h"

#ifdef HOST_TEST
int main(void) {
  for (int i = 0; i < PORTS; i++) ports[i].in_fd = ports[i].out_fd = -1;
  if (fcntl(3, F_GETFL) >= 0) ports[1].in_fd = ports[1].out_fd = fcntl(3, F_DUPFD_CLOEXEC, 10);
  // The descriptors 0 to 2 are free for the commands' own then.
  ports[0].in_fd = fcntl(0, F_DUPFD_CLOEXEC, 10);
  ports[0].out_fd = fcntl(1, F_DUPFD_CLOEXEC, 10);
  int null_fd = open("/dev/null", O_RDWR);
  dup2(null_fd, 0);
  dup2(null_fd, 1);
  close(3);
  for (int i = 0; i < PORTS; i++) {
    if (ports[i].in_fd < 0) continue;
    fcntl(ports[i].in_fd, F_SETFL, O_RDWR | O_NONBLOCK);
    fcntl(ports[i].out_fd, F_SETFL, O_RDWR | O_NONBLOCK);
  }
  cgroup_setup();
  identity_prepare();
  hooks_prepare();
  int status = agent_loop();
  return status == LOOP_POWEROFF ? 0 : status;
}
#else
int main(void) {
  if (getpid() != 1) {
    fprintf(stderr, "shinken-agent is the init of a guest machine; it does nothing elsewhere\n");
    return 1;
  }
  init_main();
}
#endif
