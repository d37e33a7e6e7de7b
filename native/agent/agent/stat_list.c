// What lies in the file system: records of one path or of a folder's entries.
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/file_request.h"
#include "agent/record.h"

#define ENTRY_RECORD_MAX (PATH_BYTES + 512u)  // a name, a link's target, numbers

static const char* type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "f";
    case S_IFDIR:
      return "d";
    case S_IFLNK:
      return "l";
    case S_IFIFO:
      return "p";
    case S_IFSOCK:
      return "s";
    case S_IFCHR:
      return "c";
    default:
      return "b";
  }
}

void put_file_record(struct mp_writer* writer, int folder, const char* name, const char* label,
                     const struct stat* st) {
  mp_put_array(writer, 9);
  mp_put_bin(writer, label, (uint32_t)strlen(label));
  mp_put_str(writer, type_of(st->st_mode));
  mp_put_int(writer, st->st_mode & 07777);
  mp_put_int(writer, (int64_t)st->st_size);
  mp_put_int(writer, st->st_uid);
  mp_put_int(writer, st->st_gid);
  mp_put_int(writer, st->st_mtim.tv_sec);
  mp_put_int(writer, st->st_mtim.tv_nsec);
  char target[PATH_BYTES];
  ssize_t length = S_ISLNK(st->st_mode) ? readlinkat(folder, name, target, sizeof target) : -1;
  if (length >= 0)
    mp_put_bin(writer, target, (uint32_t)length);
  else
    mp_put_nil(writer);
}

void op_stat(struct request* request) {
  struct file_request* file = file_parse(request, FIELD_FOLLOW);
  if (file == NULL) return;
  struct stat st;
  if (fstatat(AT_FDCWD, file->path, &st, file->follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
    reply_errno(request->port, request->frame.stream, errno, "stat");
    return;
  }
  struct mp_writer writer = reply_start(request->port);
  put_file_record(&writer, AT_FDCWD, file->path, "", &st);
  reply_end(request->port, request->frame.stream, &writer);
}

void op_list(struct request* request) {
  struct file_request* file = file_parse(request, FIELD_LIMIT);
  if (file == NULL) return;
  int fd = open(file->path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    reply_errno(request->port, request->frame.stream, errno, "open");
    return;
  }
  struct stream* stream = stream_open(request, STREAM_LIST);
  if (stream == NULL) {
    close(fd);
    return;
  }
  uint32_t limit = file->limit < RECORDS_DEFAULT ? (uint32_t)file->limit : RECORDS_DEFAULT;
  stream->listing = (struct listing){.fd = fd, .limit = limit};
}

void listing_finish(struct stream* stream, bool more) {
  struct mp_writer writer = reply_start(stream->port);
  mp_put_map(&writer, 2);
  mp_put_str(&writer, "count");
  mp_put_int(&writer, stream->listing.count);
  mp_put_str(&writer, "more");
  mp_put_bool(&writer, more);
  reply_end(stream->port, stream->id, &writer);
  stream_close(stream);
}

long listing_entries(struct listing* listing, void* buffer, uint32_t capacity) {
  if (lseek(listing->fd, listing->offset, SEEK_SET) < 0) return -1;
  return syscall(SYS_getdents64, listing->fd, buffer, capacity);
}

bool list_pump(struct stream* stream) {
  static _Alignas(8) char entries[16384];
  struct listing* listing = &stream->listing;
  while (port_has_room(stream->port)) {
    if (stream->credit < DATA_MAX) return false;
    long got = listing_entries(listing, entries, sizeof entries);
    if (got < 0) {
      stream_error(stream, errno_name(errno), "list");
      return true;
    }
    if (got == 0) {
      listing_finish(stream, false);
      return true;
    }
    struct mp_writer writer;
    mp_start(&writer, port_reserve(stream->port), DATA_MAX);
    bool over = false;
    for (long at = 0; at < got && !over && writer.capacity - writer.length > ENTRY_RECORD_MAX;) {
      const struct folder_entry* entry = (const void*)(entries + at);
      at += entry->length;
      struct stat st;
      if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0 &&
          fstatat(listing->fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        over = listing->count == listing->limit;
        if (over) break;
        put_file_record(&writer, listing->fd, entry->name, entry->name, &st);
        listing->count++;
      }
      listing->offset = entry->offset;
    }
    if (writer.length > 0) {
      stream->credit -= writer.length;
      stream_data(stream, CHANNEL_RECORDS, 0, writer.length);
    }
    if (over) {
      listing_finish(stream, true);
      return true;
    }
  }
  return true;
}
