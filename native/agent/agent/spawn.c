#include "agent/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(struct spawn* spawn, const char* step) {
  spawn->error = errno;
  spawn->failed = step;
  return 127;
}

static void try_exec(struct spawn* spawn, const char* program) {
  execve(program, spawn->argv, spawn->envp);
  if (errno != ENOEXEC) return;
  // A script without an interpreter line is the shell's, as execvp(3) has it.
  static char* shell_argv[ARGS_MAX + 2];
  shell_argv[0] = (char*)"sh";
  shell_argv[1] = (char*)program;
  for (int i = 1; (shell_argv[i + 1] = spawn->argv[i]) != NULL; i++) continue;
  execve("/bin/sh", shell_argv, spawn->envp);
}

static int search(struct spawn* spawn) {
  const char* name = spawn->argv[0];
  if (strchr(name, '/') != NULL || name[0] == 0) {
    try_exec(spawn, name);
    return fail(spawn, "exec");
  }
  static char program[2 * PATH_BYTES];
  int error = ENOENT;
  for (const char* part = spawn->path; part != NULL;) {
    const char* colon = strchr(part, ':');
    int length = colon != NULL ? (int)(colon - part) : (int)strlen(part);
    int needed = snprintf(program, sizeof program, "%.*s%s%s", length, part, length > 0 ? "/" : "", name);
    if (needed < (int)sizeof program) {
      try_exec(spawn, program);
      if (errno == EACCES)
        error = EACCES;
      else if (errno != ENOENT && errno != ENOTDIR)
        return fail(spawn, "exec");
    }
    part = colon != NULL ? colon + 1 : NULL;
  }
  errno = error;
  return fail(spawn, "exec");
}

static int enter_folder(struct spawn* spawn) {
  if (spawn->cwd != NULL) return chdir(spawn->cwd);
  return chdir(spawn->user->home) == 0 ? 0 : chdir("/");
}

/// Gives the child an ordinary out-of-memory score: it inherits the agent's.
static void ordinary_score(void) {
#ifndef HOST_TEST
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "0", 1) != 1) errno = 0;
  close(fd);
#endif
}

static int become(const struct user* user) {
  if (user->uid == geteuid() && user->gid == getegid()) return 0;
  if (syscall(SYS_setgroups, user->group_count, user->groups) != 0) return -1;
  if (syscall(SYS_setresgid, user->gid, user->gid, user->gid) != 0) return -1;
  return (int)syscall(SYS_setresuid, user->uid, user->uid, user->uid);
}

/// Runs in the child, on the agent's memory while the agent waits: it may change nothing but `spawn` and its
/// own statics.
static int child(void* argument) {
  struct spawn* spawn = argument;
  ordinary_score();
  setsid();
  if (spawn->image_namespace >= 0 && setns(spawn->image_namespace, CLONE_NEWNS) != 0)
    return fail(spawn, "image");
  for (int i = 0; i < 3; i++)
    if (dup2(spawn->fds[i], i) < 0) return fail(spawn, "stdio");
  if (spawn->terminal && ioctl(0, TIOCSCTTY, 0) != 0) return fail(spawn, "tty");
  signal(SIGPIPE, SIG_DFL);
  if (become(spawn->user) != 0) return fail(spawn, "user");
  if (enter_folder(spawn) != 0) return fail(spawn, "cwd");
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  return search(spawn);
}

#if defined(__riscv)
/// clone3 with shared memory on a stack of the child's own; `child` never returns here.
/// SAFETY: the agent is suspended until the child execs or exits (CLONE_VFORK), so `stack` and `spawn` have
/// one user at a time.
static long clone_child(struct clone_args* args, struct spawn* spawn) {
  register long a0 __asm__("a0") = (long)args;
  register long a1 __asm__("a1") = sizeof *args;
  register long a7 __asm__("a7") = SYS_clone3;
  register int (*entry)(void*) __asm__("s2") = child;
  register struct spawn* argument __asm__("s3") = spawn;
  __asm__ volatile(
      "ecall\n"
      "bnez a0, 1f\n"
      "mv a0, s3\n"
      "jalr s2\n"
      "li a7, %[exit]\n"
      "ecall\n"
      "1:"
      : "+r"(a0)
      : "r"(a1), "r"(a7), "r"(entry), "r"(argument), [exit] "i"(SYS_exit)
      : "memory", "ra");
  if (a0 >= 0) return a0;
  errno = (int)-a0;
  return -1;
}

static pid_t start(struct spawn* spawn) {
  static _Alignas(16) char stack[16384];
  struct clone_args args = {.flags = CLONE_VM | CLONE_VFORK | (spawn->leaf_fd >= 0 ? CLONE_INTO_CGROUP : 0),
                            .exit_signal = SIGCHLD,
                            .stack = (uintptr_t)stack,
                            .stack_size = sizeof stack,
                            .cgroup = spawn->leaf_fd >= 0 ? (uint64_t)spawn->leaf_fd : 0};
  return (pid_t)clone_child(&args, spawn);
}
#else
static pid_t start(struct spawn* spawn) {
  pid_t pid = vfork();
  if (pid == 0) _exit(child(spawn));
  return pid;
}
#endif

pid_t spawn(struct spawn* spawn) {
  spawn->failed = NULL;
  pid_t pid = start(spawn);
  if (pid < 0) {
    fail(spawn, "clone");
    return -1;
  }
  if (spawn->failed == NULL) return pid;
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  return -1;
}
