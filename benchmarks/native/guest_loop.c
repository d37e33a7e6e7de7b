/* The guest side of the loop benchmark: entered in S-mode as `shinken machine run` enters any ELF, runs the loop and
 * resets through SBI (SRST, shutdown, no reason). ROUNDS is given by the build. */
#include "loop.h"

#ifndef ROUNDS
#define ROUNDS 1000000
#endif

static uint8_t stack[16384] __attribute__((aligned(16), used));

static void shutdown(void) {
  register uint64_t a0 __asm__("a0") = 0, a1 __asm__("a1") = 0;
  register uint64_t a6 __asm__("a6") = 0, a7 __asm__("a7") = 0x53525354;
  __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a6), "r"(a7) : "memory");
}

__attribute__((used)) static void run(void) {
  volatile uint64_t sink = bench_loop(ROUNDS);
  (void)sink;
  shutdown();
  for (;;) {
  }
}

__attribute__((naked, section(".text.start"))) void _start(void) {
  __asm__ volatile("la sp, stack\n li t0, 16384\n add sp, sp, t0\n j run");
}
