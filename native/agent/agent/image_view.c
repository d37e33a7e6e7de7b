#include "agent/image_view.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

int image_mount_fd = -1;

#ifdef HOST_TEST
int image_view_new(const char** step) {
  *step = "image";
  return -ENODEV;
}
#else

// Where the new root is put together: any folder will do, since only this mount namespace sees it.
#define STAGE "/run/shinken"
// From linux/mount.h and linux/fcntl.h, whose names older C libraries do not have.
#define MOVE_EMPTY_SOURCE 4    // MOVE_MOUNT_F_EMPTY_PATH
#define TREE_CLONE 1           // OPEN_TREE_CLONE
#define TREE_RECURSIVE 0x8000  // AT_RECURSIVE

/// Folders whose content is data: nothing is looked up there to be loaded as a program, a library or its
/// configuration. Root's home is none of them: programs that run as root ask the user database for it.
static const char* const data_folders[] = {"/home", "/srv", "/tmp", "/var"};

static int bind_machine(const char* folder) {
  char target[64];
  struct stat st;
  if (lstat(folder, &st) != 0 || !S_ISDIR(st.st_mode)) return 0;
  snprintf(target, sizeof target, "%s%s", STAGE, folder);
  return mount(folder, target, NULL, MS_BIND | MS_REC, NULL);
}

static int device(const char* name, unsigned minor) {
  char path[64];
  snprintf(path, sizeof path, STAGE "/dev/%s", name);
  mode_t before = umask(0);
  int result = mknod(path, S_IFCHR | 0666, makedev(1, minor));
  umask(before);
  return result;
}

/// Runs in a child, which leaves for a mount namespace of its own; returns the step that failed, or null.
static const char* build(void) {
  // Copied without what anybody may have mounted into it, and before leaving: only a mount of the namespace
  // that one is in can be copied (Linux 6.12).
  int image = (int)syscall(SYS_open_tree, image_mount_fd, "", TREE_CLONE | AT_EMPTY_PATH | O_CLOEXEC);
  if (image < 0) return "image_copy";
  if (unshare(CLONE_NEWNS) != 0) return "image_unshare";
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return "image_private";
  // The whole machine first, while /run/shinken is still what it was.
  int machine = (int)syscall(SYS_open_tree, AT_FDCWD, "/", TREE_CLONE | TREE_RECURSIVE | O_CLOEXEC);
  if (machine < 0) return "image_machine";
  if (syscall(SYS_move_mount, image, "", AT_FDCWD, STAGE, MOVE_EMPTY_SOURCE) != 0) return "image_root";
  if (mount("proc", STAGE "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) return "image_proc";
  if (mount("dev", STAGE "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k") != 0)
    return "image_dev";
  if (device("null", 3) != 0 || device("zero", 5) != 0 || device("full", 7) != 0 ||
      device("random", 8) != 0 || device("urandom", 9) != 0 || symlink("/proc/self/fd", STAGE "/dev/fd") != 0)
    return "image_dev";
  for (size_t i = 0; i < sizeof data_folders / sizeof data_folders[0]; i++)
    if (bind_machine(data_folders[i]) != 0) return "image_data";
  if (syscall(SYS_move_mount, machine, "", AT_FDCWD, STAGE "/mnt", MOVE_EMPTY_SOURCE) != 0)
    return "image_mnt";
  // Now that the stage covers the machine's own /run/shinken, /run is taken from the whole machine's copy.
  if (mount(STAGE "/mnt/run", STAGE "/run", NULL, MS_BIND | MS_REC, NULL) != 0) return "image_run";
  if (chdir(STAGE) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) return "image_pivot";
  return umount2(".", MNT_DETACH) == 0 && chdir("/") == 0 ? NULL : "image_pivot";
}

struct report {
  const char* failed;
  int error;
};

int image_view_new(const char** step) {
  int view_fd = -1;
  *step = "image";
  if (image_mount_fd < 0) return -ENODEV;
  int done[2], go[2];
  if (pipe2(done, O_CLOEXEC) != 0) return -errno;
  if (pipe2(go, O_CLOEXEC) != 0) return -errno;
  pid_t pid = fork();
  if (pid == 0) {
    struct report report = {.failed = build()};
    report.error = errno;
    char byte;
    close(go[1]);
    if (write(done[1], &report, sizeof report) != (ssize_t)sizeof report) _exit(1);
    // Stays until the parent holds the namespace.
    while (read(go[0], &byte, 1) < 0 && errno == EINTR) continue;
    _exit(0);
  }
  struct report report = {"image_fork", pid < 0 ? errno : EIO};
  close(done[1]);
  close(go[0]);
  if (pid > 0) {
    if (read(done[0], &report, sizeof report) != (ssize_t)sizeof report) report.failed = "image_fork";
    if (report.failed == NULL) {
      char path[64];
      snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
      view_fd = open(path, O_RDONLY | O_CLOEXEC);
      if (view_fd < 0) report = (struct report){"image_namespace", errno};
    }
  }
  close(done[0]);
  close(go[1]);
  if (pid > 0)
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  if (report.failed == NULL) return view_fd;
  *step = report.failed;
  return -report.error;
}
#endif

int image_view(const char** step) {
  static int view_fd = -1;
  if (view_fd < 0) {
    int made = image_view_new(step);
    if (made < 0) return made;
    view_fd = made;
  }
  return view_fd;
}
