#include "agent/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SEED_MAX 256

static int generation_fd = -1, machine_id_fd = -1, boot_id_fd = -1;
#ifndef HOST_TEST
static int random_fd = -1;
#endif

static int file_in(const char* folder, const char* name, const char* content) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0444);
  if (fd >= 0 && write(fd, content, strlen(content)) < 0) {
    close(fd);
    return -1;
  }
  return fd;
}

#ifndef HOST_TEST
static void bind_over(const char* source, const char* target) {
  // A machine without an image has no /etc/machine-id yet.
  if (access(target, F_OK) != 0) close(open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0444));
  mount(source, target, NULL, MS_BIND, NULL);
}
#endif

void identity_prepare(void) {
  const char* folder = getenv("SHINKEN_RUN");
  if (folder == NULL) folder = "/run/shinken";
  mkdir(folder, 0755);
  generation_fd = file_in(folder, "generation", "00000000000000000000000000000000\n");
  machine_id_fd = file_in(folder, "machine-id", "00000000000000000000000000000001\n");
  boot_id_fd = file_in(folder, "boot_id", "00000000-0000-4000-8000-000000000000\n");
  notify_prepare(folder);
#ifndef HOST_TEST
  bind_over("/run/shinken/boot_id", "/proc/sys/kernel/random/boot_id");
  bind_over("/run/shinken/machine-id", "/etc/machine-id");
  random_fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
#endif
  network_prepare();
}

int identity_seed(const uint8_t* seed, uint32_t length) {
  if (length > SEED_MAX) return EINVAL;
#ifndef HOST_TEST
  struct {
    struct rand_pool_info info;
    uint8_t bytes[SEED_MAX];
  } pool;
  pool.info.entropy_count = (int)length * 8;
  pool.info.buf_size = (int)length;
  memcpy(pool.bytes, seed, length);
  return ioctl(random_fd, RNDADDENTROPY, &pool) == 0 ? 0 : errno;
#else
  (void)seed;
  return 0;
#endif
}

int identity_reseed(void) {
#ifndef HOST_TEST
  return ioctl(random_fd, RNDRESEEDCRNG) == 0 ? 0 : errno;
#else
  return 0;
#endif
}

int identity_clock(int64_t seconds, int64_t nanoseconds) {
#ifndef HOST_TEST
  struct timespec time = {.tv_sec = seconds, .tv_nsec = nanoseconds};
  return clock_settime(CLOCK_REALTIME, &time) == 0 ? 0 : errno;
#else
  return seconds >= 0 && nanoseconds >= 0 ? 0 : EINVAL;
#endif
}

int identity_hostname(const char* name) {
#ifndef HOST_TEST
  return sethostname(name, strlen(name)) == 0 ? 0 : errno;
#else
  return name[0] != 0 ? 0 : EINVAL;
#endif
}

/// Every content of a file has the same length, so that no reader sees a mix of lengths.
static int rewrite(int fd, const char* text, size_t length) {
  if (fd < 0) return ENOENT;
  ssize_t put = pwrite(fd, text, length, 0);
  return put == (ssize_t)length ? 0 : put < 0 ? errno : EIO;
}

static int rewrite_line(int fd, const char* text, size_t length) {
  char line[64];
  if (strlen(text) != length || length + 1 > sizeof line) return EINVAL;
  memcpy(line, text, length);
  line[length] = '\n';
  return rewrite(fd, line, length + 1);
}

int identity_machine_id(const char* id) {
  return rewrite_line(machine_id_fd, id, 32);
}

int identity_boot_id(const char* id) {
  return rewrite_line(boot_id_fd, id, 36);
}

int identity_random_seed(void) {
#ifndef HOST_TEST
  static const char* const files[] = {"/var/lib/systemd/random-seed", "/var/lib/urandom/random-seed"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    if (unlink(files[i]) != 0 && errno != ENOENT && errno != ENOTDIR) return errno;
#endif
  return 0;
}

int identity_generation(const uint8_t* generation) {
  static const char digits[] = "0123456789abcdef";
  char line[33];
  for (int i = 0; i < 16; i++) {
    line[2 * i] = digits[generation[i] >> 4];
    line[2 * i + 1] = digits[generation[i] & 15];
  }
  line[32] = '\n';
  return rewrite(generation_fd, line, sizeof line);
}
