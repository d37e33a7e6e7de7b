#include "monitor/cpu/translate.h"

#include "monitor/cpu/translator.h"

namespace shinken {

namespace {

/// Writes the ways out that the blocks of a page left for later.
void write_rare_exits(CodeArena& arena, const std::vector<RareExit>& exits) {
  x86::Writer writer = arena.writer();
  for (const RareExit& exit : exits) {
    writer.patch(exit.place, writer.at());
    if (exit.refill != nullptr) {
      writer.call(exit.refill);
      writer.jcc(x86::kNotEqual, exit.back);
    }
    writer.mov_imm(x86::rax, static_cast<i32>(exit.value));
    writer.jmp(arena.exit_within());
  }
  arena.take(writer.at());
}

bool translate_block(CodePage& page, u16 entry, CodeArena& arena, std::vector<RareExit>& rare) {
  auto* block = reinterpret_cast<BlockHeader*>(const_cast<Op*>(page.at(entry)));
  if (block->tried) return true;
  Translator translator(page, *block, entry, arena);
  if (!translator.translate()) return false;
  const std::size_t exits = rare.size() + translator.rare().size();
  if (!arena.has_room(translator.end(), exits * RareExit::kMaxBytes)) return false;
  block->tried = 1;
  if (!translator.worthwhile()) return true;
  rare.insert(rare.end(), translator.rare().begin(), translator.rare().end());
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

}  // namespace

bool translate_page(CodePage& page, CodeArena& arena) {
  std::vector<RareExit> rare;
  bool room = true;
  // From the end, so that a block can go on into the translation of one that starts within it.
  for (unsigned i = kPageSize / 2; room && i-- > 0;) {
    const u16 entry = page.index[i];
    // A page that is not written any more is all its own.
    if (entry == 0 || (page.writable && !page.owns(page.at(entry)))) continue;
    room = translate_block(page, entry, arena, rare);
  }
  write_rare_exits(arena, rare);
  return room;
}

void translate_shared(const std::vector<std::shared_ptr<CodePage>>& pages) {
  // More than any block comes to; what is not used goes back.
  constexpr u64 kBytesPerSlot = 112;
  u64 slots = 0;
  for (const auto& page : pages) slots += page->own.size();
  if (slots == 0) return;
  std::shared_ptr<CodeArena> arena = CodeArena::make_sealable(kPageSize + slots * kBytesPerSlot);
  if (!arena) return;
  for (const auto& page : pages) {
    page->arena = arena;
    translate_page(*page, *arena);
    page->waiting_jumps = {};
  }
  if (arena->seal()) return;
  for (const auto& page : pages) page->forget_translations();
}

}  // namespace shinken
