#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/image_view.h"
#include "init/init.h"

#define DISK_WAIT_MS 2000
#define UNTOLD_WAIT_MS 20

static bool wait_for(const char* path, unsigned wait_ms) {
  for (unsigned waited = 0; access(path, F_OK) != 0; waited++) {
    if (waited >= wait_ms) return false;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  return true;
}

static void must_mount(const char* source, const char* target, const char* type, unsigned long flags,
                       const char* options) {
  mkdir(target, 0755);
  if (mount(source, target, type, flags, options) != 0)
    boot_fail("mounting %s on %s: %s", source, target, strerror(errno));
}

/// Frees the initial root's memory; stays on its file system, so that nothing mounted is touched.
static void remove_tree(int folder, dev_t device, int depth) {
  DIR* dir = fdopendir(folder);
  if (dir == NULL) {
    close(folder);
    return;
  }
  for (struct dirent* entry; (entry = readdir(dir)) != NULL;) {
    struct stat st;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_dev != device) continue;
    if (S_ISDIR(st.st_mode) && depth < 16) {
      int below = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (below >= 0) remove_tree(below, device, depth + 1);
      unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
    } else {
      unlinkat(dirfd(dir), entry->d_name, 0);
    }
  }
  closedir(dir);
}

static void move_into(const char* folder) {
  char target[64];
  snprintf(target, sizeof target, "/newroot%s", folder);
  if (mount(folder, target, NULL, MS_MOVE, NULL) != 0) boot_fail("moving %s: %s", folder, strerror(errno));
}

static void switch_root(void) {
  struct stat st;
  int old = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  move_into("/dev");
  move_into("/sys");
  move_into("/proc");
  if (chdir("/newroot") != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0 ||
      chdir("/") != 0)
    boot_fail("switching the root: %s", strerror(errno));
  if (old >= 0 && fstat(old, &st) == 0) remove_tree(old, st.st_dev, 0);
}

bool enter_image(void) {
  char disk_buffer[64], size_buffer[64], options[128];
  const char* wanted = boot_option("shinken.root", "", disk_buffer, sizeof disk_buffer);
  const char* disk = wanted[0] != 0 ? wanted : "/dev/vda";
  // Without being told of a disk a machine may well have none, and its modules have probed it by now if it
  // has.
  if (!wait_for(disk, wanted[0] != 0 ? DISK_WAIT_MS : UNTOLD_WAIT_MS)) {
    if (wanted[0] != 0) boot_fail("no disk %s", disk);
    return false;
  }
  must_mount(disk, "/image", "erofs", MS_RDONLY, NULL);
  image_mount_fd = open("/image", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (image_mount_fd < 0) boot_fail("keeping the image: %s", strerror(errno));
  snprintf(options, sizeof options, "mode=0755,size=%s",
           boot_option("shinken.overlay", "50%", size_buffer, sizeof size_buffer));
  must_mount("overlay", "/overlay", "tmpfs", MS_NOATIME, options);
  mkdir("/overlay/upper", 0755);
  mkdir("/overlay/work", 0755);
  must_mount("overlay", "/newroot", "overlay", MS_NOATIME,
             "lowerdir=/image,upperdir=/overlay/upper,workdir=/overlay/work");
  switch_root();
  return true;
}
