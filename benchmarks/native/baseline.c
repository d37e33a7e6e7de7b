/* What the host itself takes for things that a fork is compared with. One measurement a call:
 *   bench_baseline spawn        posix_spawn of /bin/true until it is reaped
 *   bench_baseline fork MIB     fork(2) of this process holding MIB of touched memory in pages of 4 KiB
 *   bench_baseline fork-huge MIB   the same in pages of 2 MiB, as far as the host gives them
 *   bench_baseline copy MIB     memcpy of MIB into memory that is already mapped
 *   bench_baseline loop MOPS    the guest benchmark's loop, compiled for the host
 * then a count of repetitions. Prints one number of nanoseconds a line. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

extern char** environ;

enum { kMaxMib = 16384, kMaxRepeat = 100000 };

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static uint8_t* touched(size_t size, int huge) {
  uint8_t* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap");
  madvise(memory, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE); /* a golden is shared by 4 KiB pages */
  for (size_t at = 0; at < size; at += 4096) memory[at] = (uint8_t)(at >> 12);
  return memory;
}

static void once_spawn(void) {
  char* argv[] = {"/bin/true", NULL};
  pid_t child;
  int status;
  if (posix_spawn(&child, argv[0], NULL, NULL, argv, environ) != 0) fail("posix_spawn");
  if (waitpid(child, &status, 0) != child) fail("waitpid");
}

/* Only the parent's share is timed: fork(2) until it returns. */
static uint64_t once_fork(void) {
  uint64_t start = now();
  pid_t child = fork();
  if (child == 0) _exit(0);
  uint64_t taken = now() - start;
  if (child < 0) fail("fork");
  waitpid(child, NULL, 0);
  return taken;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const char* kind = argv[1];
  unsigned long amount = strtoul(argv[2], NULL, 10), repeat = strtoul(argv[3], NULL, 10);
  if (amount > kMaxMib || repeat > kMaxRepeat) return 2;
  size_t size = (size_t)amount << 20;
  uint8_t *source = NULL, *target = NULL;
  int huge = !strcmp(kind, "fork-huge"), forks = huge || !strcmp(kind, "fork");
  if (forks || !strcmp(kind, "copy")) source = touched(size, huge);
  if (!strcmp(kind, "copy")) target = touched(size, 0);
  volatile uint64_t sink = 0;
  for (unsigned long i = 0; i < repeat; i++) {
    uint64_t start = now(), taken = 0;
    if (!strcmp(kind, "spawn")) once_spawn();
    else if (forks) taken = once_fork();
    else if (!strcmp(kind, "copy")) memcpy(target, source, size);
    else if (!strcmp(kind, "loop")) sink += bench_loop((uint64_t)amount * 1000000u);
    else return 2;
    if (taken == 0) taken = now() - start;
    printf("%llu\n", (unsigned long long)taken);
  }
  return 0;
}
