#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init/init.h"

#define FOLDER "/modules"
#define ORDER_MAX 4096

static void load(const char* name) {
  char path[256];
  snprintf(path, sizeof path, FOLDER "/%s", name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) boot_fail("module %s: %s", path, strerror(errno));
  if (syscall(SYS_finit_module, fd, "", 0) != 0 && errno != EEXIST)
    boot_fail("module %s: %s", path, strerror(errno));
  close(fd);
}

void load_modules(void) {
  char order[ORDER_MAX];
  int fd = open(FOLDER "/order", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t got = read(fd, order, sizeof order - 1);
  close(fd);
  if (got < 0) boot_fail("reading " FOLDER "/order: %s", strerror(errno));
  order[got] = 0;
  char* save = NULL;
  for (char* name = strtok_r(order, "\n", &save); name != NULL; name = strtok_r(NULL, "\n", &save))
    if (name[0] != 0 && name[0] != '#') load(name);
}
