// From a program counter to decoded code: translation, attachment to shared blocks, decoding, invalidation.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "monitor/cpu/core.h"
#include "monitor/cpu/decode.h"
#include "monitor/cpu/translate.h"

namespace shinken {

namespace {

/// Decoded code that one machine may hold for itself; beyond it everything is dropped and decoded anew.
constexpr u64 kMaxPrivateCode = u64{32} << 20;
/// Pages that devices wrote between two runs, beyond which everything is forgotten.
constexpr std::size_t kMaxOutside = 64;

}  // namespace

Core::Attached& Core::attach(u64 page) {
  Attached& attached = code_[static_cast<u32>(page)];
  if (attached.code() != nullptr) return attached;
  const u8* bytes = memory_->page_for_read(page);
  const u8* golden = shared_ && translation_ != Translation::kNever ? memory_->shared_page(page) : nullptr;
  if (golden != nullptr) attached.shared = shared_->find(golden);
  if (!attached.shared) {
    attached.own = std::make_unique<CodePage>();
    attached.own->bytes = bytes;
    private_code_ += sizeof(CodePage);
  }
  memory_->watch(page);
  tlb_->drop_writes_of(page);
  return attached;
}

const CodePage* Core::fetch_page(u64 pc) {
  u64 pa = 0;
  if (!translate(pc, Access::kFetch, true, &pa) || !memory_->contains(pa, 2)) {
    raise(fault_cause_, pc);
    return nullptr;
  }
  if (private_code_.value() > kMaxPrivateCode) {
    forget_private_code();
    std::memset(tlb_->fetch, 0xff, sizeof tlb_->fetch);
    tlb_->drop_jumps();
  }
  const CodePage* code = attach((pa - kRamBase) >> kPageShift).code();
  tlb_->note_fetch(pc);
  tlb_->fetch[s.mode][fetch_slot(pc)] = {pc & ~kPageMask, code, code->writable};
  return code;
}

/// The page at `pc`, of which code is executing, but which the TLB forgot.
const CodePage* Core::executing_page(u64 pc) {
  u64 pa = 0;
  // SAFETY: whatever changes the page's translation ends the block first, so this cannot fail; if it did, the
  // address would be no page of this machine.
  if (!translate(pc, Access::kFetch, true, &pa) || !memory_->contains(pa, 2)) std::abort();
  return attach((pa - kRamBase) >> kPageShift).code();
}

const CodePage* Core::decode_at(u64 pc) {
  u64 pa = 0;
  if (!translate(pc, Access::kFetch, true, &pa) || !memory_->contains(pa, 2)) {
    raise(fault_cause_, pc);
    return nullptr;
  }
  Attached& attached = attach((pa - kRamBase) >> kPageShift);
  if (!attached.own) {
    // The golden's blocks are not ours to change: continue its index in a page of our own.
    auto own = std::make_unique<CodePage>();
    std::memcpy(own->index, attached.shared->index, sizeof own->index);
    own->part[0] = attached.shared->part[0];
    own->bytes = attached.shared->bytes;
    own->base = attached.shared;
    tlb_->drop_fetches_of(attached.shared.get());
    attached.own = std::move(own);
    private_code_ += sizeof(CodePage);
  }
  CodePage& own = *attached.own;
  const unsigned offset = static_cast<unsigned>(pa & kPageMask);
  const auto found = [&] {
    tlb_->note_fetch(pc);
    tlb_->fetch[s.mode][fetch_slot(pc)] = {pc & ~kPageMask, &own, true};
    return &own;
  };
  // Whoever came from a shared block that the jump cache knows has not seen our own ones.
  if (own.index[offset >> 1] != 0) return found();
  Op slots[kMaxBlockSlots];
  const unsigned count = decode_block(own.bytes, offset, kMaxBlock, slots);
  const u64 before = own.footprint();
  if (!own.add(offset, slots, count)) {
    // So many overlapping blocks that the index cannot reach them: start the page again.
    own.clear();
    own.add(offset, slots, count);
    tlb_->drop_jumps();
  }
  if (own.footprint() > before) private_code_ += own.footprint() - before;
  if (translation_ == Translation::kAll) translate(own);
  return found();
}

bool Core::fetch_cross(u64 pc, u32* raw) {
  u16 half[2] = {0, 0};
  for (unsigned i = 0; i < 2; ++i) {
    const u64 va = pc + 2 * i;
    u64 pa = 0;
    if (!translate(va, Access::kFetch, true, &pa) || !memory_->contains(pa, 2)) {
      raise(fault_cause_, va);
      return false;
    }
    std::memcpy(&half[i], memory_->page_for_read((pa - kRamBase) >> kPageShift) + (pa & kPageMask), 2);
  }
  *raw = half[0] | u32{half[1]} << 16;
  return true;
}

void Core::retire_page(Attached& attached) {
  // Both: a jump may know a shared block from before the page got blocks of its own.
  if (tlb_ != nullptr && attached.own) tlb_->drop_code(attached.own.get());
  if (tlb_ != nullptr && attached.shared) tlb_->drop_code(attached.shared.get());
  if (attached.own) {
    private_code_ -= attached.own->footprint();
    graveyard_.push_back(std::move(attached.own));
  }
  if (attached.shared) shared_graveyard_.push_back(std::move(attached.shared));
}

void Core::page_written(u64 page, bool moved) {
  const auto found = code_.find(static_cast<u32>(page));
  // A golden's code that this hart has only inherited jumps to.
  const CodePage* inherited = nullptr;
  if (moved && shared_ && found == code_.end()) inherited = shared_->at_page(page);
  if (tlb_ == nullptr) {
    // Written from outside `run`, perhaps on a thread whose TLB is not ours: its owner looks at it when it
    // runs.
    if (outside_.size() == kMaxOutside) stamp_ = 0;
    if (stamp_ != 0) outside_.push_back({page, nullptr, inherited, moved});
    if (stamp_ != 0 && found != code_.end()) {
      outside_.back().own = found->second.own.get();
      outside_.back().shared = found->second.shared.get();
    }
  } else {
    if (moved) tlb_->drop_reads_of(page);
    if (inherited != nullptr) break_block(), tlb_->drop_code(inherited);
    if (!own_table_write_ && tlb_->tables.find(page) != nullptr) flush_tlb();
  }
  if (found == code_.end()) return;
  if (tlb_ != nullptr) break_block(), bus_->on_code_dropped();
  retire_page(found->second);
  code_.erase(found);
}

void Core::catch_up_with_outside() {
  for (const Outside& written : outside_) {
    if (written.moved) tlb_->drop_reads_of(written.page);
    if (written.own != nullptr) tlb_->drop_code(written.own);
    if (written.shared != nullptr) tlb_->drop_code(written.shared);
    if (tlb_->tables.find(written.page) != nullptr) tlb_->clear();
  }
  outside_.clear();
}

void Core::drop_translations() {
  stamp_ = 0;
}

void Core::forget_private_code() {
  code_.clear();
  private_code_.clear();
  if (arena_) arena_->reset();
}

void Core::drop_code() {
  drop_translations();
  std::unordered_map<u32, Attached>().swap(code_);
  private_code_.clear();
  std::vector<std::unique_ptr<CodePage>>().swap(graveyard_);
  std::vector<std::shared_ptr<const CodePage>>().swap(shared_graveyard_);
  std::vector<Outside>().swap(outside_);
  arena_.reset();
  arena_code_.clear();
  entrance_ = shared_ ? shared_->entrance() : nullptr;
}

std::shared_ptr<const SharedBlocks> Core::share_blocks() {
  drop_translations();
  auto blocks = std::make_shared<SharedBlocks>();
  // A former golden's pages go on serving, as long as this memory still has them from there.
  if (shared_) {
    for (u64 page = 0; page < memory_->pages(); ++page) {
      const u8* bytes = memory_->shared_page(page);
      if (bytes == nullptr) continue;
      if (auto found = shared_->find(bytes)) blocks->put(page, bytes, memory_->hold(page), std::move(found));
    }
  }
  std::vector<std::shared_ptr<CodePage>> fresh;
  std::vector<u64> numbers;
  for (const auto& [page, attached] : code_) {
    // Where the golden has them; a page that was written since is none of the golden's.
    const u8* bytes = memory_->shared_page(page);
    if (bytes == nullptr) continue;
    auto hold = memory_->hold(page);
    if (!attached.own) {
      if (attached.shared) blocks->put(page, bytes, std::move(hold), attached.shared);
    } else if (auto flat = attached.own->flattened(bytes, std::move(hold))) {
      fresh.push_back(std::move(flat));
      numbers.push_back(page);
    }
  }
  if (translation_ != Translation::kNever) translate_shared(fresh);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    blocks->put(numbers[i], fresh[i]->bytes, fresh[i]->hold, fresh[i]);
  }
  return blocks;
}

}  // namespace shinken
