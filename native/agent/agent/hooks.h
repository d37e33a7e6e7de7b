#pragma once
// Hooks of the image: programs that make unique what the agent does not know of (docs/uniqueness.md).
#include <stdbool.h>
#include <stdint.h>

#include "agent/limits.h"

/// What went wrong, as an ERROR reply says it: an errno name, `exit N` or `signal N`; `hooks` or `hook NAME`.
struct hook_fault {
  char code[32], where[NAME_BYTES];
};

/// Notes which hooks the image has. Called once, before anything that could touch them runs; a fault shows
/// when they are to be run.
void hooks_prepare(void);

/// Runs all hooks, one after the other, and kills what they leave behind. True with their number in `*ran`,
/// or false with the first fault. Takes no time where there are none.
bool hooks_run(const uint8_t generation[16], const char* hostname, uint32_t* ran, struct hook_fault* fault);
