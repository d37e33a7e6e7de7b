#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "init/init.h"

const char* boot_option(const char* key, const char* otherwise, char* buffer, size_t capacity) {
  char line[4096];
  int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return otherwise;
  ssize_t got = read(fd, line, sizeof line - 1);
  close(fd);
  if (got <= 0) return otherwise;
  line[got] = 0;
  size_t length = strlen(key);
  char* save = NULL;
  for (char* word = strtok_r(line, " \n", &save); word != NULL; word = strtok_r(NULL, " \n", &save)) {
    if (strncmp(word, key, length) != 0 || word[length] != '=') continue;
    if (strlen(word + length + 1) >= capacity) return otherwise;
    return strcpy(buffer, word + length + 1);
  }
  return otherwise;
}
