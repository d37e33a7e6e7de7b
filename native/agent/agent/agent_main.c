#include "agent/agent_main.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/hooks.h"
#include "agent/identity.h"
#include "agent/proc.h"
#include "init/init.h"

#define PORT_WAIT_MS 10000
#define SECOND_PORT_WAIT_MS 500

/// What the agent needs to act whatever the workload does: it acts first, and memory runs out for others.
static void take_precedence(void) {
  struct sched_param parameter = {.sched_priority = 50};
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) != 0)
    boot_log("no real-time scheduling");
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "-1000", 5) != 5) boot_log("no protection from the out-of-memory killer");
  close(fd);
}

int agent_main(void) {
  prctl(PR_SET_NAME, "shinken-agent");
  umask(022);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  take_precedence();
  // Commands inherit nothing of the console: their descriptors 0 to 2 are their own, the agent's are nothing.
  int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < 3 && null_fd >= 0; i++) dup2(null_fd, i);
  if (null_fd > 2) close(null_fd);
  // Held from here on, before anybody can mount over it.
  close(proc_open());
  cgroup_setup();
  identity_prepare();
  hooks_prepare();
  ports[0].in_fd = ports[0].out_fd = open_port(PORT_AGENT, PORT_WAIT_MS);
  if (ports[0].in_fd < 0) {
    boot_log("no port " PORT_AGENT);
    return 1;
  }
  ports[1].in_fd = ports[1].out_fd = open_port(PORT_GRADER, SECOND_PORT_WAIT_MS);
  int status = agent_loop();
  return status == LOOP_POWEROFF ? 0 : 1;
}
