// What lies at a path, and with it all that a small file holds: what a grader asks most, in one request.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/file_request.h"
#include "agent/record.h"

/// Bytes of a file that a reply has room for beside its record.
#define LOOK_MAX (DATA_MAX - REPLY_MAX)

// Requests that came together mostly name neighbours. From the second on their folder is walked to only once.
static char folder[PATH_BYTES];
static int folder_fd = -1;

void looks_done(void) {
  if (folder_fd >= 0) close(folder_fd);
  folder_fd = -1;
  folder[0] = 0;
}

/// Splits off the path's last name if its folder is open; else the whole path, from the root.
static const char* within(const char* path, int* at) {
  const char* slash = strrchr(path, '/');
  size_t length = (size_t)(slash - path);
  *at = AT_FDCWD;
  if (length == 0 || slash[1] == 0) return path;
  if (memcmp(folder, path, length) != 0 || folder[length] != 0) {
    looks_done();
    memcpy(folder, path, length);
    folder[length] = 0;
    return path;
  }
  if (folder_fd < 0) folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_fd < 0) return path;
  *at = folder_fd;
  return slash + 1;
}

/// The file's bytes, LOOK_MAX + 1 of them if there are more than LOOK_MAX. Negative errno.
static ssize_t read_small(int at, const char* name, uint8_t* bytes) {
  struct stat st;
  // The path itself was looked at: should a link or a device stand there now, it is not followed or read.
  int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t used = 0;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) used = -ENXIO;
  // To its end, whatever size the file claims: in /proc they claim to be empty.
  while (used >= 0 && (size_t)used <= LOOK_MAX) {
    ssize_t got = read(fd, bytes + used, LOOK_MAX + 1 - (size_t)used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) used = -errno;
    if (got <= 0) break;
    used += got;
  }
  close(fd);
  return used;
}

void op_look(struct request* request) {
  static uint8_t bytes[LOOK_MAX + 1];
  struct file_request* file = file_parse(request, 0);
  if (file == NULL) return;
  struct stat st;
  int at;
  const char* name = within(file->path, &at);
  if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
    reply_errno(request->port, request->frame.stream, errno, "stat");
    return;
  }
  bool small = S_ISREG(st.st_mode) && st.st_size >= 0 && st.st_size <= (off_t)LOOK_MAX;
  ssize_t length = small ? read_small(at, name, bytes) : 0;
  if (length < 0) {
    reply_errno(request->port, request->frame.stream, (int)-length, "read");
    return;
  }
  struct mp_writer writer;
  mp_start(&writer, port_reserve(request->port), DATA_MAX);
  mp_put_array(&writer, 2);
  put_file_record(&writer, at, name, "", &st);
  if (small && (size_t)length <= LOOK_MAX)
    mp_put_bin(&writer, bytes, (uint32_t)length);
  else
    mp_put_nil(&writer);
  reply_end(request->port, request->frame.stream, &writer);
}
