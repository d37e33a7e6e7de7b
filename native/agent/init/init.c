#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent_main.h"
#include "wire/frame.h"
#include "wire/msgpack.h"

#define BUILD_SCRIPT "/init.sh"
#define DYING_PORT_WAIT_MS 100

/// Waits until `child` has ended, reaping all others on the way; its status as of waitpid.
static int reap_until(pid_t child) {
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, 0);
    if (pid == child) return status;
    if (pid < 0 && errno != EINTR) return -1;
  }
}

static pid_t start(int (*run)(void)) {
  pid_t pid = fork();
  if (pid < 0) boot_fail("fork: %s", strerror(errno));
  if (pid > 0) return pid;
  setsid();
  _exit(run());
}

static int run_script(void) {
  char* const argv[] = {(char*)"sh", (char*)BUILD_SCRIPT, NULL};
  char* const envp[] = {(char*)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", (char*)"HOME=/root",
                        (char*)"LC_ALL=C.UTF-8", (char*)"TERM=dumb", NULL};
  execve("/bin/sh", argv, envp);
  boot_log("/bin/sh: %s", strerror(errno));
  return 127;
}

/// The build role: the image's finishing boot. A machine that powers off has succeeded, one that restarts has
/// not.
static void build(void) {
  int status = reap_until(start(run_script));
  if (status != 0) boot_fail(BUILD_SCRIPT " failed with status %d", status);
  sync();
  reboot(RB_POWER_OFF);
}

/// Tells the host through the port that the agent has just let go.
static void report_death(int status) {
  uint8_t bytes[FRAME_HEADER + 16];
  struct mp_writer writer;
  mp_start(&writer, bytes + FRAME_HEADER, 16);
  mp_put_map(&writer, 1);
  mp_put_str(&writer, "status");
  mp_put_int(&writer, status);
  frame_header(bytes, &(struct frame){.length = writer.length, .kind = FRAME_EVENT, .op = EVENT_AGENT_DIED});
  int fd = open_port(PORT_AGENT, DYING_PORT_WAIT_MS);
  if (fd < 0) return;
  if (write(fd, bytes, FRAME_HEADER + writer.length) < 0) boot_log("port: %s", strerror(errno));
  close(fd);
}

/// Descriptors 0 to 2 must be something before others are opened; a machine without a console has nothing
/// there.
static void standard_descriptors(void) {
  int fd = open("/dev/console", O_RDWR | O_NOCTTY);
  if (fd < 0) fd = open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; i++)
    if (fd != i) dup2(fd, i);
  if (fd > 2) close(fd);
}

void init_main(void) {
  mount_basics();
  standard_descriptors();
  load_modules();
  if (access(BUILD_SCRIPT, F_OK) == 0) {
    mount_rest();
    build();
  }
  enter_image();
  mount_rest();
  int status = reap_until(start(agent_main));
  if (status == 0) reboot(RB_POWER_OFF);
  report_death(status);
  boot_fail("the agent ended with status %d", status);
}
