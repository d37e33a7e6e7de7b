// Which private code is translated, and when.
#include "monitor/cpu/core.h"
#include "monitor/cpu/translate.h"

namespace shinken {

namespace {

/// Translations that one machine may hold for itself, of which only what is used takes memory. What finds no
/// room is interpreted.
constexpr u64 kArenaBytes = u64{64} << 20;
/// So often a page must be found being interpreted before its blocks are translated.
constexpr u32 kHotSamples = 24;
/// Interpreted blocks between two looks: so many, and up to as many more. A guest that does the same again
/// and again, as ours do, would always be met at the same places otherwise.
constexpr u32 kLeastHeat = 64;
static_assert((kLeastHeat & (kLeastHeat - 1)) == 0);

}  // namespace

/// Called with the page that is being interpreted whenever `heat_` has come to 0.
void Core::note_hot_page(const CodePage* page) {
  jitter_ = jitter_ * 1664525 + 1013904223;
  heat_ = kLeastHeat + (jitter_ >> 16 & (kLeastHeat - 1));
  if (translation_ != Translation::kHot || !page->writable) return;
  auto& own = const_cast<CodePage&>(*page);
  if (++own.samples >= kHotSamples && own.untranslated) translate(own);
}

/// Translates those blocks of a private page that are not yet.
void Core::translate(CodePage& page) {
  if (!arena_) {
    // Decoded blocks of a golden go on serving where the host takes no translations: only these end here.
    if (!arena_refused_) arena_ = CodeArena::make(kArenaBytes);
    arena_refused_ = !arena_;
    if (arena_refused_) return;
    entrance_ = arena_;
  }
  translate_page(page, *arena_);
  if (arena_->used() > arena_code_.value()) arena_code_ += arena_->used() - arena_code_.value();
  page.untranslated = false;
  // So that they lead to the translations.
  tlb_->drop_jumps_of(&page);
}

}  // namespace shinken
