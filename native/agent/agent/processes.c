// Processes, from /proc.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/kernel_threads.h"
#include "agent/proc.h"

#define PROCESS_RECORD_MAX (ARGV_RECORD_BYTES + ARGV_RECORD_BYTES * 2 + 256)

static void put_argv(struct mp_writer* writer, const char* text, ssize_t length) {
  if (length < 0) length = 0;
  uint32_t count = 0;
  for (ssize_t i = 0; i < length; i++) count += text[i] == 0 || i + 1 == length;
  mp_put_array(writer, count);
  for (ssize_t at = 0; at < length;) {
    size_t size = strnlen(text + at, (size_t)(length - at));
    mp_put_bin(writer, text + at, (uint32_t)size);
    at += (ssize_t)size + 1;
  }
}

/// Writes one record unless the process is gone or not wanted.
static bool put_process(struct mp_writer* writer, int proc, const char* pid, bool kernel) {
  static char text[ARGV_RECORD_BYTES];
  struct process process;
  struct stat st;
  if (proc_read(proc, pid, "stat", text, sizeof text) <= 0 || !proc_parse(text, &process)) return false;
  if ((process.flags & KERNEL_THREAD) != 0 && !kernel) return false;
  if (fstatat(proc, pid, &st, 0) != 0) return false;
  mp_put_array(writer, 7);
  mp_put_int(writer, process.pid);
  mp_put_int(writer, process.ppid);
  mp_put_int(writer, st.st_uid);
  mp_put_str(writer, process.state);
  mp_put_bin(writer, process.name, (uint32_t)strlen(process.name));
  put_argv(writer, text, proc_read(proc, pid, "cmdline", text, sizeof text));
  mp_put_int(writer, (int64_t)process.start);
  return true;
}

void op_processes(struct request* request) {
  bool kernel = false;
  uint32_t pairs = mp_map(&request->reader);
  struct span key;
  while (next_key(&request->reader, &pairs, &key)) {
    if (span_is(key, "kernel"))
      kernel = mp_bool(&request->reader);
    else
      unknown_key(&request->reader, key);
  }
  if (!request_done(request)) return;
  int fd = proc_open();
  struct stream* stream = fd < 0 ? NULL : stream_open(request, STREAM_PROCESSES);
  if (fd < 0) reply_errno(request->port, request->frame.stream, errno, "open");
  if (stream != NULL)
    stream->listing = (struct listing){.fd = fd, .limit = RECORDS_DEFAULT, .kernel = kernel};
  else if (fd >= 0)
    close(fd);
}

bool processes_pump(struct stream* stream) {
  static _Alignas(8) char entries[4096];
  struct listing* listing = &stream->listing;
  while (port_has_room(stream->port)) {
    if (stream->credit < DATA_MAX) return false;
    long got = listing_entries(listing, entries, sizeof entries);
    if (got <= 0 || listing->count >= listing->limit) {
      listing_finish(stream, got > 0);
      return true;
    }
    if (listing->offset == 0 && !listing->kernel) kernel_threads_read(listing->fd);
    struct mp_writer writer;
    mp_start(&writer, port_reserve(stream->port), DATA_MAX);
    for (long at = 0; at < got && writer.capacity - writer.length > PROCESS_RECORD_MAX;) {
      const struct folder_entry* entry = (const void*)(entries + at);
      at += entry->length;
      bool wanted = entry->name[0] >= '0' && entry->name[0] <= '9' &&
                    (listing->kernel || !is_kernel_thread(atoi(entry->name)));
      if (wanted && put_process(&writer, listing->fd, entry->name, listing->kernel)) listing->count++;
      listing->offset = entry->offset;
    }
    if (writer.length > 0) {
      stream->credit -= writer.length;
      stream_data(stream, CHANNEL_RECORDS, 0, writer.length);
    }
  }
  return true;
}
