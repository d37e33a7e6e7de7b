// Contents of regular files, in and out.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/file_request.h"
#include "agent/path.h"

void op_read(struct request* request) {
  struct file_request* file = file_parse(request, FIELD_RANGE | FIELD_USER);
  if (file == NULL) return;
  struct stat st;
  int fd = open_regular(file->path, O_RDONLY, 0, &st);
  rights_leave();
  if (fd < 0) {
    reply_errno(request->port, request->frame.stream, -fd, "open");
    return;
  }
  struct stream* stream = NULL;
  if (file->offset > 0 && lseek(fd, (off_t)file->offset, SEEK_SET) < 0)
    reply_errno(request->port, request->frame.stream, errno, "seek");
  else
    stream = stream_open(request, STREAM_READ);
  if (stream == NULL) {
    close(fd);
    return;
  }
  stream->transfer = (struct transfer){.fd = fd,
                                       .left = file->limit,
                                       .size = (uint64_t)st.st_size,
                                       .mode = st.st_mode & 07777,
                                       .mtime_s = st.st_mtim.tv_sec,
                                       .mtime_ns = (uint32_t)st.st_mtim.tv_nsec};
}

static void read_finish(struct stream* stream) {
  struct transfer done = stream->transfer;
  struct mp_writer writer = reply_start(stream->port);
  mp_put_map(&writer, 4);
  mp_put_str(&writer, "size");
  mp_put_int(&writer, (int64_t)done.size);
  mp_put_str(&writer, "read");
  mp_put_int(&writer, (int64_t)done.done);
  mp_put_str(&writer, "mode");
  mp_put_int(&writer, done.mode);
  mp_put_str(&writer, "mtime");
  mp_put_array(&writer, 2);
  mp_put_int(&writer, done.mtime_s);
  mp_put_int(&writer, done.mtime_ns);
  reply_end(stream->port, stream->id, &writer);
  stream_close(stream);
}

bool read_pump(struct stream* stream) {
  struct transfer* transfer = &stream->transfer;
  bool progress = false;
  while (port_has_room(stream->port)) {
    uint64_t most = transfer->left < DATA_MAX ? transfer->left : DATA_MAX;
    if (most == 0) {
      read_finish(stream);
      return true;
    }
    if (most > stream->credit) most = stream->credit;
    if (most == 0) return progress;
    ssize_t got = read(transfer->fd, port_reserve(stream->port), most);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      stream_error(stream, errno_name(errno), "read");
      return true;
    }
    progress = true;
    if (got == 0) {
      transfer->left = 0;
      continue;
    }
    transfer->left -= (uint64_t)got;
    transfer->done += (uint64_t)got;
    stream->credit -= (uint64_t)got;
    stream_data(stream, CHANNEL_FILE, 0, (uint32_t)got);
  }
  return progress;
}

// Standard input that a command will get: bytes without a name, so that nobody in the guest can put himself
// in their way.
static int spooled_fd = -1;
static uint32_t spooled_stream;

int spool_take(uint32_t stream) {
  if (spooled_fd < 0 || spooled_stream != stream) {
    errno = ENOENT;
    return -1;
  }
  int fd = spooled_fd;
  spooled_fd = -1;
  return fd;
}

static void spool_keep(struct stream* stream) {
  if (spooled_fd >= 0) close(spooled_fd);
  lseek(stream->transfer.fd, 0, SEEK_SET);
  spooled_fd = stream->transfer.fd;
  spooled_stream = stream->id;
  stream->transfer.fd = -1;
}

void op_write(struct request* request) {
  struct file_request* file = file_parse(request, FIELD_WRITE | FIELD_USER);
  if (file == NULL) return;
  const char* where = file->spool ? "spool" : "parents";
  struct stat st;
  int fd = file->parents && !file->spool ? -make_parents(file->path) : 0;
  if (file->spool) {
    fd = memfd_create("stdin", MFD_CLOEXEC);
    if (fd < 0) fd = -errno;
  } else if (fd == 0) {
    where = "open";
    fd = open_regular(file->path, O_WRONLY | O_CREAT | (file->append ? O_APPEND : O_TRUNC), 0644, &st);
  }
  if (fd >= 0 && file->has_mode && fchmod(fd, file->mode) != 0) {
    int error = errno;
    where = "mode";
    close(fd);
    fd = -error;
  }
  rights_leave();
  // The stream is open even after a failure: the host's data is on its way and must be taken in.
  struct stream* stream = stream_open(request, STREAM_WRITE);
  if (stream == NULL) {
    if (fd >= 0) close(fd);
    return;
  }
  stream->transfer = (struct transfer){
      .fd = fd < 0 ? -1 : fd, .spool = file->spool, .error = fd < 0 ? -fd : 0, .where = where};
}

static void write_finish(struct stream* stream) {
  struct transfer done = stream->transfer;
  if (done.error != 0) {
    stream_error(stream, errno_name(done.error), done.where);
    return;
  }
  if (done.spool) spool_keep(stream);
  struct mp_writer writer = reply_start(stream->port);
  mp_put_map(&writer, 1);
  mp_put_str(&writer, "size");
  mp_put_int(&writer, (int64_t)done.done);
  reply_end(stream->port, stream->id, &writer);
  stream_close(stream);
}

void write_data(struct stream* stream, const struct frame* frame) {
  struct transfer* transfer = &stream->transfer;
  for (uint32_t at = 0; at < frame->length && transfer->error == 0;) {
    ssize_t put = write(transfer->fd, frame->payload + at, frame->length - at);
    if (put > 0) {
      at += (uint32_t)put;
      transfer->done += (uint64_t)put;
    } else if (put == 0 || errno != EINTR) {
      transfer->error = put == 0 ? ENOSPC : errno;
      transfer->where = "write";
    }
  }
  if ((frame->flags & FRAME_END) != 0) write_finish(stream);
}
