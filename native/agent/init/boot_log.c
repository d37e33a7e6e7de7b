#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "init/init.h"

static void write_line(const char* format, va_list arguments) {
  char line[512];
  int used = snprintf(line, sizeof line, "shinken: ");
  vsnprintf(line + used, sizeof line - (size_t)used, format, arguments);
  int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    dprintf(fd, "%s\n", line);
    close(fd);
  } else {
    dprintf(2, "%s\n", line);
  }
}

void boot_log(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

void boot_fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
  sync();
  reboot(RB_AUTOBOOT);
  _exit(1);
}
