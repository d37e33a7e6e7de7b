#include "agent/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/limits.h"

static int refusal(const struct stat* st) {
  if (S_ISREG(st->st_mode)) return 0;
  return S_ISDIR(st->st_mode) ? -EISDIR : -ENXIO;
}

int open_regular(const char* path, int flags, mode_t mode, struct stat* st) {
  // Looked at before it is opened, since opening alone makes some devices act; and again after, should it
  // have been exchanged.
  if (stat(path, st) == 0) {
    if (refusal(st) != 0) return refusal(st);
  } else if (errno != ENOENT || (flags & O_CREAT) == 0) {
    return -errno;
  }
  int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
  if (fd < 0) return -errno;
  if (fstat(fd, st) == 0 && refusal(st) == 0) return fd;
  close(fd);
  return refusal(st);
}

int make_parents(const char* path) {
  char folder[PATH_BYTES];
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] != '/') length--;
  if (length <= 1 || length >= sizeof folder) return length <= 1 ? 0 : ENAMETOOLONG;
  memcpy(folder, path, length);
  folder[length - 1] = 0;
  struct stat st;
  if (stat(folder, &st) == 0) return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
  for (char* slash = strchr(folder + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (slash != NULL) *slash = 0;
    // A folder that may not be written to can still hold the next one.
    int error = mkdir(folder, 0755) == 0 ? 0 : errno;
    if (error != 0 && (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode)))
      return error == EEXIST ? ENOTDIR : error;
    if (slash == NULL) return 0;
    *slash = '/';
  }
}
