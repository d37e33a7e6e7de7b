#pragma once
// Decoded pages by where their blocks start: a golden keeps that in its file and decodes them again when it
// is loaded.
#include <memory>
#include <vector>

#include "monitor/cpu/code_page.h"

namespace shinken {

struct CodeStarts {
  std::vector<u64> pages;            // physical pages that have these bytes, by number
  const u8* bytes;                   // of the page
  std::shared_ptr<const void> hold;  // while it lives the bytes stay as they are
  std::vector<u16> starts;           // half-word offsets, ascending, below kPageSize / 2
};

/// Of a flat page.
std::vector<u16> starts_of(const CodePage& page);

/// Decodes the blocks that start there and translates them, as `Hart::share_blocks` does with what has run.
/// Any offset is as good as any other: a block is what its bytes say, and one that nobody enters harms
/// nobody. What exceeds `max_slots` operations in all, or one page's room, is left out.
std::shared_ptr<const SharedBlocks> decode_shared(const std::vector<CodeStarts>& pages, u64 max_slots);

}  // namespace shinken
