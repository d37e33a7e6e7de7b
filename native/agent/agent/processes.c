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

// FIRST_PROCESS_ENTRY of the kernel's fs/proc/internal.h: /proc/self has that place, and then come the
// processes.
#define PROCESSES_OFFSET 256
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

/// Writes one record of all there is unless the process is gone or not wanted.
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

/// Writes a command line's record. The kernel's threads and the dead have none.
static bool put_command_line(struct mp_writer* writer, int proc, const char* pid) {
  static char text[ARGV_RECORD_BYTES];
  ssize_t length = proc_read(proc, pid, "cmdline", text, sizeof text);
  if (length <= 0) return false;
  mp_put_array(writer, 2);
  mp_put_int(writer, atoi(pid));
  put_argv(writer, text, length);
  return true;
}

/// Where the processes begin in /proc: half of a listing's cost is what stands before. 0 where it is
/// otherwise.
static int64_t processes_offset(int proc) {
  _Alignas(8) char entry[64];
  struct listing listing = {.fd = proc, .offset = PROCESSES_OFFSET};
  const struct folder_entry* first = (const void*)entry;
  long got = proc < 0 ? 0 : listing_entries(&listing, entry, sizeof entry);
  return got > 0 && strcmp(first->name, "self") == 0 ? PROCESSES_OFFSET : 0;
}

void op_processes(struct request* request) {
  struct listing listing = {.limit = RECORDS_DEFAULT};
  uint32_t pairs = mp_map(&request->reader);
  struct span key;
  while (next_key(&request->reader, &pairs, &key)) {
    if (span_is(key, "kernel"))
      listing.kernel = mp_bool(&request->reader);
    else if (span_is(key, "argv"))
      listing.argv = mp_bool(&request->reader);
    else
      unknown_key(&request->reader, key);
  }
  if (!request_done(request)) return;
  listing.fd = proc_open();
  struct stream* stream = listing.fd < 0 ? NULL : stream_open(request, STREAM_PROCESSES);
  if (listing.fd < 0) reply_errno(request->port, request->frame.stream, errno, "open");
  listing.offset = processes_offset(listing.fd);
  if (stream != NULL)
    stream->listing = listing;
  else if (listing.fd >= 0)
    close(listing.fd);
}

static bool put_entry(struct mp_writer* writer, const struct listing* listing, const char* name) {
  if (name[0] < '0' || name[0] > '9') return false;
  if (!listing->kernel && kernel_thread_known(atoi(name))) return false;
  if (listing->argv) return put_command_line(writer, listing->fd, name);
  return put_process(writer, listing->fd, name, listing->kernel);
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
    kernel_threads_count();
    struct mp_writer writer;
    mp_start(&writer, port_reserve(stream->port), DATA_MAX);
    for (long at = 0; at < got && writer.capacity - writer.length > PROCESS_RECORD_MAX;) {
      const struct folder_entry* entry = (const void*)(entries + at);
      at += entry->length;
      if (put_entry(&writer, listing, entry->name)) listing->count++;
      listing->offset = entry->offset;
    }
    if (writer.length > 0) {
      stream->credit -= writer.length;
      stream_data(stream, CHANNEL_RECORDS, 0, writer.length);
    }
  }
  return true;
}
