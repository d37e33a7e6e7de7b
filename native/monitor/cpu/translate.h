#pragma once
// Decoded blocks to host code (x86-64). What it does not know, and whatever is not the likely way - a fault,
// a misaligned access, a division by zero - it leaves to the interpreter, at the very operation; so the two
// agree by construction on everything that is rare, and nothing here traps but a user's ecall.
#include "monitor/cpu/code_arena.h"
#include "monitor/cpu/code_page.h"

namespace shinken {

/// Translates those of the page's blocks that are its own and were not tried yet, into the arena. Sets their
/// `native`, and makes the jumps of the page that wait for them lead there.
/// False if the arena is full; a block that would leave at once stays as it is.
bool translate_page(CodePage& page, CodeArena& arena);

/// Translates the blocks of pages that a golden is about to share, into an arena that they then own together.
/// Does nothing where the host can't.
void translate_shared(const std::vector<std::shared_ptr<CodePage>>& pages);

}  // namespace shinken
