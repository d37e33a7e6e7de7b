#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init/init.h"

static void attach(const char* type, const char* target, unsigned long flags, const char* options) {
  mkdir(target, 0755);
  if (mount(type, target, type, flags, options) != 0 && errno != EBUSY)
    boot_fail("mounting %s on %s: %s", type, target, strerror(errno));
}

void mount_basics(void) {
  attach("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  attach("sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  attach("devtmpfs", "/dev", MS_NOSUID, "mode=0755");
}

void mount_rest(void) {
  char buffer[64], options[96];
  attach("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "gid=5,mode=620,ptmxmode=666");
  attach("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777");
  attach("tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=0755,size=64m");
  // Apart, so that who fills /run, where everybody may write to some folders, leaves room for what a grader
  // brings.
  attach("tmpfs", "/run/shinken-grader", MS_NOSUID | MS_NODEV, "mode=0700,size=256m");
  snprintf(options, sizeof options, "mode=1777,size=%s",
           boot_option("shinken.tmp", "50%", buffer, sizeof buffer));
  attach("tmpfs", "/tmp", MS_NOSUID | MS_NODEV, options);
  attach("cgroup2", "/sys/fs/cgroup", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  mkdir("/run/lock", 01777);
  chmod("/run/lock", 01777);
  // What a shell expects of /dev and devtmpfs does not make.
  static const char* const links[][2] = {{"/proc/self/fd", "/dev/fd"},
                                         {"/proc/self/fd/0", "/dev/stdin"},
                                         {"/proc/self/fd/1", "/dev/stdout"},
                                         {"/proc/self/fd/2", "/dev/stderr"}};
  for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
    if (symlink(links[i][0], links[i][1]) != 0 && errno != EEXIST)
      boot_log("%s: %s", links[i][1], strerror(errno));
  links_up();
}
