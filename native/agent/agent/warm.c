// Filling the page cache before a golden is sealed, so that all its children share it.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/path.h"

/// Clean page cache, dentries and inodes: what only the boot has read would lie in every golden.
static int drop_caches(void) {
#ifdef HOST_TEST
  return 0;
#else
  sync();
  int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  int error = write(fd, "3", 1) == 1 ? 0 : errno;
  close(fd);
  return error;
#endif
}

/// Reads the file through; a path that is not there is no fault, for images differ.
static void warm_file(const char* path, int64_t* files, int64_t* bytes) {
  static char rubbish[WRITE_MAX];
  struct stat st;
  int fd = open_regular(path, O_RDONLY, 0, &st);
  if (fd < 0) return;
  ssize_t got;
  while ((got = read(fd, rubbish, sizeof rubbish)) > 0) *bytes += got;
  close(fd);
  (*files)++;
}

void op_warm(struct request* request) {
  struct mp_reader* reader = &request->reader;
  struct mp_reader paths = {reader->end, reader->end, false};
  bool drop = false;
  uint32_t pairs = mp_map(reader);
  struct span key;
  while (next_key(reader, &pairs, &key)) {
    if (span_is(key, "paths"))
      paths = *reader, mp_skip(reader);
    else if (span_is(key, "drop"))
      drop = mp_bool(reader);
    else
      unknown_key(reader, key);
  }
  if (!request_done(request)) return;
  int error = drop ? drop_caches() : 0;
  if (error != 0) {
    reply_errno(request->port, request->frame.stream, error, "drop");
    return;
  }
  int64_t files = 0, bytes = 0;
  uint32_t count = paths.at == paths.end ? 0 : mp_array(&paths);
  for (uint32_t i = 0; i < count && !paths.bad; i++) {
    char path[PATH_BYTES];
    take_text(&paths, path, sizeof path);
    if (!paths.bad) warm_file(path, &files, &bytes);
  }
  if (paths.bad) {
    reply_error(request->port, request->frame.stream, "EINVAL", "paths");
    return;
  }
  struct mp_writer writer = reply_start(request->port);
  mp_put_map(&writer, 2);
  mp_put_str(&writer, "files");
  mp_put_int(&writer, files);
  mp_put_str(&writer, "bytes");
  mp_put_int(&writer, bytes);
  reply_end(request->port, request->frame.stream, &writer);
}
