// Processes, from /proc.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"

#define PROCESS_RECORD_MAX (ARGV_RECORD_BYTES + ARGV_RECORD_BYTES * 2 + 256)
#define KERNEL_THREADS_MAX 1024
// PF_KTHREAD of the kernel's include/linux/sched.h, in the flags of /proc/PID/stat.
#define KERNEL_THREAD 0x00200000u

struct process {
  char name[64];
  char state[2];
  long pid, ppid;
  unsigned long flags;
  unsigned long long start;
};

static ssize_t read_entry(int proc, const char* pid, const char* file, char* text, size_t capacity) {
  char path[64];
  snprintf(path, sizeof path, "%.20s/%s", pid, file);
  int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t got = read(fd, text, capacity - 1);
  close(fd);
  if (got >= 0) text[got] = 0;
  return got;
}

/// Fields of proc(5)'s /proc/PID/stat. The name may hold any character, so its end is the last parenthesis.
static bool parse_stat(const char* text, struct process* process) {
  const char* open = strchr(text, '(');
  const char* close = strrchr(text, ')');
  if (open == NULL || close == NULL || close < open || close[1] != ' ') return false;
  size_t length = (size_t)(close - open - 1);
  if (length >= sizeof process->name) length = sizeof process->name - 1;
  memcpy(process->name, open + 1, length);
  process->name[length] = 0;
  process->pid = strtol(text, NULL, 10);
  process->state[0] = close[2];
  process->state[1] = 0;
  char* at = (char*)close + 3;
  process->ppid = strtol(at, &at, 10);
  for (int field = 5; field < 9; field++) strtol(at, &at, 10);
  process->flags = strtoul(at, &at, 10);
  for (int field = 10; field < 22; field++) strtol(at, &at, 10);
  process->start = strtoull(at, NULL, 10);
  return true;
}

/// Pids of kernel threads, the children of kthreadd: most of what /proc lists, and dear to look at one by
/// one.
struct kernel_threads {
  int pids[KERNEL_THREADS_MAX];
  uint32_t count, hint;
};

static void read_kernel_threads(int proc, struct kernel_threads* threads) {
  static char text[KERNEL_THREADS_MAX * 8];
  struct process kthreadd;
  threads->count = threads->hint = 0;
  if (read_entry(proc, "2", "stat", text, sizeof text) <= 0 || !parse_stat(text, &kthreadd)) return;
  // In a container of a host's tests pid 2 may be anybody.
  if ((kthreadd.flags & KERNEL_THREAD) == 0) return;
  threads->pids[threads->count++] = 2;
  if (read_entry(proc, "2", "task/2/children", text, sizeof text) <= 0) return;
  char* at = text;
  for (long pid; threads->count < KERNEL_THREADS_MAX && (pid = strtol(at, &at, 10)) > 0;)
    // A number at the very end may have been cut; it is looked at like any other process then.
    if (*at == ' ') threads->pids[threads->count++] = (int)pid;
}

static bool is_kernel_thread(struct kernel_threads* threads, int pid) {
  // Both lists are in the order of age, so the next one looked for mostly follows the last.
  for (uint32_t i = 0; i < threads->count; i++) {
    uint32_t at = (threads->hint + i) % threads->count;
    if (threads->pids[at] != pid) continue;
    threads->hint = at + 1;
    return true;
  }
  return false;
}

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
  if (read_entry(proc, pid, "stat", text, sizeof text) <= 0 || !parse_stat(text, &process)) return false;
  if ((process.flags & KERNEL_THREAD) != 0 && !kernel) return false;
  if (fstatat(proc, pid, &st, 0) != 0) return false;
  mp_put_array(writer, 7);
  mp_put_int(writer, process.pid);
  mp_put_int(writer, process.ppid);
  mp_put_int(writer, st.st_uid);
  mp_put_str(writer, process.state);
  mp_put_bin(writer, process.name, (uint32_t)strlen(process.name));
  put_argv(writer, text, read_entry(proc, pid, "cmdline", text, sizeof text));
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
  int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stream* stream = fd < 0 ? NULL : stream_open(request, STREAM_PROCESSES);
  if (fd < 0) reply_errno(request->port, request->frame.stream, errno, "open");
  if (stream != NULL)
    stream->listing = (struct listing){.fd = fd, .limit = RECORDS_DEFAULT, .kernel = kernel};
  else if (fd >= 0)
    close(fd);
}

bool processes_pump(struct stream* stream) {
  static _Alignas(8) char entries[4096];
  static struct kernel_threads threads;
  struct listing* listing = &stream->listing;
  while (port_has_room(stream->port)) {
    if (stream->credit < DATA_MAX) return false;
    long got = listing_entries(listing, entries, sizeof entries);
    if (got <= 0 || listing->count >= listing->limit) {
      listing_finish(stream, got > 0);
      return true;
    }
    if (listing->offset == 0 && !listing->kernel) read_kernel_threads(listing->fd, &threads);
    struct mp_writer writer;
    mp_start(&writer, port_reserve(stream->port), DATA_MAX);
    for (long at = 0; at < got && writer.capacity - writer.length > PROCESS_RECORD_MAX;) {
      const struct folder_entry* entry = (const void*)(entries + at);
      at += entry->length;
      bool wanted = entry->name[0] >= '0' && entry->name[0] <= '9' &&
                    (listing->kernel || !is_kernel_thread(&threads, atoi(entry->name)));
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
