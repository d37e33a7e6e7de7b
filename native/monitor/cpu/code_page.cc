#include "monitor/cpu/code_page.h"

#include <atomic>
#include <cstring>

#include "monitor/base/heap.h"
#include "monitor/cpu/decode.h"

namespace shinken {

namespace {

/// An index entry has 15 bits for the slot, and slot 0 stands for "not decoded".
constexpr std::size_t kMaxSlots = 0x8000;
/// Room from the start.
constexpr std::size_t kFirstSlots = 64;

/// Makes the jumps of one block of a flat page lead straight to their targets. `moved` is by how much the
/// slots of the former part 1 moved.
void relink(Op* block, const u16* index, std::size_t moved) {
  auto& header = *reinterpret_cast<BlockHeader*>(block);
  header.native = nullptr;
  header.tried = 0;
  for (Op* op = block + kHeaderSlots;; ++op) {
    if (is_branch(op->code) || is_jump(op->code)) {
      const Link link = link_of(*op);
      if (link == kLinked) {
        const u16 entry = linked_entry(*op);
        if (entry & 0x8000) set_link(*op, static_cast<u16>(moved + (entry & 0x7fff)));
      } else if (link == kNear) {
        const u16 entry = index[static_cast<u32>(header.offset + distance_of(*op)) >> 1];
        if (entry != 0) set_link(*op, entry);
      }
    }
    if (ends_block(op->code)) return;
  }
}

}  // namespace

CodePage::~CodePage() {
  note_freed(footprint());
}

bool CodePage::add(unsigned offset, const Op* slots, unsigned count) {
  if (own.empty()) own.reserve(kFirstSlots), own.emplace_back();
  if (own.size() + count > kMaxSlots) return false;
  index[offset >> 1] = static_cast<u16>(0x8000 | own.size());
  if (own.size() + count > own.capacity()) {
    std::vector<Op> larger;
    larger.reserve(2 * own.capacity() + count);
    larger = own;
    outgrown_slots += own.capacity();
    outgrown.push_back(std::move(own));
    own = std::move(larger);
  }
  own.insert(own.end(), slots, slots + count);
  part[1] = own.data();
  untranslated = true;
  return true;
}

void CodePage::clear() {
  std::memset(index, 0, sizeof index);
  own.clear();
  outgrown.clear();
  outgrown_slots = 0;
  base.reset();
  part[0] = nullptr;
  waiting_jumps.clear();
}

std::shared_ptr<CodePage> CodePage::flattened(const u8* place, std::shared_ptr<const void> hold) const {
  const std::size_t first = base ? base->own.size() : 1;
  if (first + own.size() > kMaxSlots) return nullptr;
  auto flat = std::make_shared<CodePage>();
  flat->own.reserve(first + own.size());
  if (base) {
    flat->own = base->own;
  } else {
    flat->own.emplace_back();
  }
  flat->own.insert(flat->own.end(), own.begin(), own.end());
  for (unsigned i = 0; i < kPageSize / 2; ++i) {
    const u16 entry = index[i];
    flat->index[i] = entry & 0x8000 ? static_cast<u16>(first + (entry & 0x7fff)) : entry;
  }
  for (const u16 entry : flat->index) {
    if (entry != 0) relink(&flat->own[entry], flat->index, first);
  }
  flat->writable = false;
  flat->part[0] = flat->own.data();
  flat->bytes = place;
  flat->hold = std::move(hold);
  return flat;
}

void CodePage::forget_translations() {
  for (const u16 entry : index) {
    if (entry != 0) reinterpret_cast<BlockHeader*>(&own[entry])->native = nullptr;
  }
  arena.reset();
}

SharedBlocks::SharedBlocks() {
  static std::atomic<u64> last{0};
  number_ = last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void SharedBlocks::put(u64 number, const u8* bytes, std::shared_ptr<const void> hold,
                       std::shared_ptr<const CodePage> page) {
  if (!entrance_) entrance_ = page->arena;
  // A later one for the same page takes the former one's place.
  const auto [at, added] = by_page_.insert({number, places_.size()});
  if (added) places_.emplace_back();
  places_[at->second] = {number, bytes, page.get(), std::move(hold)};
  pages_[bytes] = std::move(page);
}

std::shared_ptr<const CodePage> SharedBlocks::find(const u8* bytes) const {
  const auto found = pages_.find(bytes);
  return found == pages_.end() ? nullptr : found->second;
}

}  // namespace shinken
