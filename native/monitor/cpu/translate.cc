#include "monitor/cpu/translate.h"

#include "monitor/cpu/translator.h"

namespace shinken {

bool translate_block(CodePage& page, u16 entry, CodeArena& arena) {
  auto* block = reinterpret_cast<BlockHeader*>(const_cast<Op*>(page.at(entry)));
  if (block->tried) return true;
  Translator translator(page, *block, entry, arena);
  if (!translator.translate()) return false;
  block->tried = 1;
  if (!translator.worthwhile()) return true;
  block->native = arena.next();
  arena.take(translator.end());
  x86::Writer writer = arena.writer();
  auto& waiting = page.waiting_jumps;
  for (const WaitingJump& jump : translator.waiting()) waiting.push_back(jump);
  std::erase_if(waiting, [&](const WaitingJump& jump) {
    if (jump.target != block->offset || !x86::Writer::reaches(jump.place, block->native)) return false;
    writer.patch(jump.place, block->native);
    return true;
  });
  return true;
}

void translate_shared(const std::vector<std::shared_ptr<CodePage>>& pages) {
  // More than any block comes to; what is not used goes back.
  constexpr u64 kBytesPerSlot = 96;
  u64 slots = 0;
  for (const auto& page : pages) slots += page->own.size();
  if (slots == 0) return;
  std::shared_ptr<CodeArena> arena = CodeArena::make_sealable(kPageSize + slots * kBytesPerSlot);
  if (!arena) return;
  for (const auto& page : pages) {
    page->arena = arena;
    // From the end, so that a block can go on into the translation of one that starts within it.
    for (unsigned i = kPageSize / 2; i-- > 0;) {
      if (page->index[i] != 0 && !translate_block(*page, page->index[i], *arena)) break;
    }
    page->waiting_jumps = {};
  }
  if (arena->seal()) return;
  for (const auto& page : pages) page->forget_translations();
}

}  // namespace shinken
