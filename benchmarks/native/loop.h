#pragma once
/* The loop of the guest benchmark, one source for the guest and for the host: xorshift64, a table update and a
 * branch that no predictor can learn. */
#include <stdint.h>

static inline uint64_t bench_loop(uint64_t rounds) {
  static uint64_t table[256];
  uint64_t x = 88172645463325252u, sum = 0;
  for (uint64_t i = 0; i < rounds; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    table[x & 255] += x;
    if (x & 1) sum += table[(x >> 8) & 255];
  }
  return sum;
}
