#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "init/init.h"

#define PORTS_FOLDER "/sys/class/virtio-ports"

static bool has_name(const char* device, const char* name) {
  char path[320], text[64];
  snprintf(path, sizeof path, PORTS_FOLDER "/%s/name", device);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return false;
  text[got] = 0;
  text[strcspn(text, "\n")] = 0;
  return strcmp(text, name) == 0;
}

static int try_open(const char* name) {
  DIR* folder = opendir(PORTS_FOLDER);
  if (folder == NULL) return -1;
  int fd = -1;
  for (struct dirent* entry; fd < 0 && (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] == '.' || !has_name(entry->d_name, name)) continue;
    char path[320];
    snprintf(path, sizeof path, "/dev/%s", entry->d_name);
    fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  }
  closedir(folder);
  return fd;
}

int open_port(const char* name, unsigned wait_ms) {
  for (unsigned waited = 0;; waited++) {
    int fd = try_open(name);
    if (fd >= 0 || waited >= wait_ms) return fd;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}
