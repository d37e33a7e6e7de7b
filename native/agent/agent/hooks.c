#include "agent/hooks.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/image_view.h"
#include "agent/spawn.h"

#define HOOKS_FOLDER "/usr/lib/shinken/uniqueness.d"
#define HOOK_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static char names[HOOKS_MAX][HOOK_NAME_BYTES];
static uint32_t count;
static const char* folder = HOOKS_FOLDER;
static int null_fd = -1, leaf_fd = -1;
static struct hook_fault prepared;  // no code: no fault

static bool fail(struct hook_fault* fault, const char* code, const char* name) {
  snprintf(fault->code, sizeof fault->code, "%s", code);
  if (name != NULL)
    snprintf(fault->where, sizeof fault->where, "hook %.*s", (int)HOOK_NAME_BYTES, name);
  else
    snprintf(fault->where, sizeof fault->where, "hooks");
  return false;
}

#ifdef HOST_TEST
static int open_folder(void) {
  folder = getenv("SHINKEN_HOOKS");
  if (folder == NULL) return errno = ENOENT, -1;
  return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}
#else
/// The folder in the image itself, not in the overlay that stands for it to everybody else.
static int open_folder(void) {
  if (image_mount_fd < 0) return errno = ENOENT, -1;
  return openat(image_mount_fd, HOOKS_FOLDER + 1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}
#endif

/// Puts the name in its place among those before it, in the order of their bytes.
static void insert(const char* name, size_t length) {
  uint32_t at = count++;
  for (; at > 0 && strcmp(names[at - 1], name) > 0; at--) memcpy(names[at], names[at - 1], HOOK_NAME_BYTES);
  memcpy(names[at], name, length + 1);
}

/// Null, or the errno's name: an image with a hook that could not run is not fit for use.
static const char* note_hook(int dir, const char* name) {
  struct stat st;
  size_t length = strlen(name);
  if (length >= HOOK_NAME_BYTES) return "ENAMETOOLONG";
  if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0) return errno_name(errno);
  if (!S_ISREG(st.st_mode) || (st.st_mode & S_IXUSR) == 0) return "EACCES";
  if (count == HOOKS_MAX) return "E2BIG";
  insert(name, length);
  return NULL;
}

void hooks_prepare(void) {
  int fd = open_folder();
  if (fd < 0) {
    if (errno != ENOENT) fail(&prepared, errno_name(errno), NULL);
    return;
  }
  DIR* dir = fdopendir(fd);
  if (dir == NULL) {
    fail(&prepared, errno_name(errno), NULL);
    close(fd);
    return;
  }
  for (struct dirent* entry; (entry = readdir(dir)) != NULL && prepared.code[0] == 0;) {
    const char* wrong = entry->d_name[0] == '.' ? NULL : note_hook(fd, entry->d_name);
    if (wrong != NULL) fail(&prepared, wrong, entry->d_name);
  }
  closedir(dir);
  if (count == 0) return;
  null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  leaf_fd = cgroup_hooks();
}

/// Waits for the hook, at most as long as it may take, and kills it and all that it started. False if it
/// overran.
static bool await_end(pid_t pid, int* status) {
  uint64_t end = now_us() + HOOK_TIMEOUT_MS * 1000u;
  struct pollfd poll = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
  bool ended = false;
  for (uint64_t now; poll.fd >= 0 && !ended && (now = now_us()) < end;) {
    uint64_t left = end - now;
    struct timespec time = {.tv_sec = (time_t)(left / 1000000u), .tv_nsec = (long)(left % 1000000u) * 1000};
    int got = ppoll(&poll, 1, &time, NULL);
    if (got < 0 && errno != EINTR) break;
    ended = got > 0;
  }
  if (poll.fd >= 0) close(poll.fd);
  cgroup_kill(leaf_fd);
  kill(-pid, SIGKILL);
  while (waitpid(pid, status, 0) < 0 && errno == EINTR) continue;
  return ended;
}

static bool run_hook(const char* name, char* const* envp, int view, struct hook_fault* fault) {
  // The agent's own rights: root's in a machine.
  const struct user self = {.home = "/", .uid = geteuid(), .gid = getegid()};
  char path[PATH_BYTES], code[sizeof fault->code];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  char* argv[] = {path, NULL};
  struct spawn start = {.argv = argv,
                        .envp = envp,
                        .cwd = "/",
                        .user = &self,
                        .fds = {null_fd, null_fd, null_fd},
                        .leaf_fd = leaf_fd,
                        .image_namespace = view};
  pid_t pid = spawn(&start);
  if (pid < 0) return fail(fault, errno_name(start.error), name);
  int status = 0;
  if (!await_end(pid, &status)) return fail(fault, "ETIMEDOUT", name);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (WIFEXITED(status))
    snprintf(code, sizeof code, "exit %d", WEXITSTATUS(status));
  else
    snprintf(code, sizeof code, "signal %d", WTERMSIG(status));
  return fail(fault, code, name);
}

/// `bytes` in hex at `text`, which is returned behind it; a dash where a UUID has one, if asked for.
static char* put_hex(char* text, const uint8_t* bytes, uint32_t length, bool dashes) {
  static const char digits[] = "0123456789abcdef";
  for (uint32_t i = 0; i < length; i++) {
    if (dashes && (i == 4 || i == 6 || i == 8 || i == 10)) *text++ = '-';
    *text++ = digits[bytes[i] >> 4];
    *text++ = digits[bytes[i] & 15];
  }
  *text = 0;
  return text;
}

bool hooks_run(const uint8_t generation[16], const char* hostname, uint32_t* ran, struct hook_fault* fault) {
  *ran = 0;
  if (prepared.code[0] != 0) {
    *fault = prepared;
    return false;
  }
  if (count == 0) return true;
  char generation_text[64] = "SHINKEN_GENERATION=", seed_text[32 + 2 * HOOK_SEED_BYTES] = "SHINKEN_SEED=";
  char host_text[32 + NAME_BYTES];
  char* const envp[] = {(char*)HOOK_PATH,
                        (char*)"HOME=/nonexistent",
                        (char*)"LANG=C.UTF-8",
                        generation_text,
                        host_text,
                        seed_text,
                        NULL};
  put_hex(generation_text + strlen(generation_text), generation, 16, true);
  snprintf(host_text, sizeof host_text, "SHINKEN_HOSTNAME=%s", hostname);
  size_t seed_at = strlen(seed_text);
  int view = -1;
#ifndef HOST_TEST
  // Of this fork alone: what a view shows of the machine is what was mounted when it was made.
  const char* step;
  view = image_view_new(&step);
  if (view < 0) return fail(fault, errno_name(-view), NULL);
#endif
  bool good = true;
  for (uint32_t i = 0; i < count && good; i++) {
    // From the generator that has just taken the fork's seed, so that no hook learns the seed or another's
    // bytes.
    uint8_t seed[HOOK_SEED_BYTES];
    good = getrandom(seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed ||
           fail(fault, "EAGAIN", names[i]);
    put_hex(seed_text + seed_at, seed, sizeof seed, false);
    explicit_bzero(seed, sizeof seed);
    good = good && run_hook(names[i], envp, view, fault);
    if (good) (*ran)++;
  }
  explicit_bzero(seed_text, sizeof seed_text);
  if (view >= 0) close(view);
  return good;
}
