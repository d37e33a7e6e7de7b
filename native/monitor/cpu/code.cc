// From a program counter to decoded code: translation, attachment to shared blocks, decoding, invalidation.
#include <algorithm>
#include <cstring>

#include "monitor/cpu/core.h"
#include "monitor/cpu/decode.h"

namespace shinken {

namespace {

/// Decoded code that one machine may hold for itself; beyond it everything is dropped and decoded anew.
constexpr u64 kMaxPrivateCode = u64{32} << 20;

}  // namespace

Core::Attached& Core::attach(u64 page) {
  Attached& attached = code_[static_cast<u32>(page)];
  if (attached.code() != nullptr) return attached;
  const u8* bytes = memory_->page_for_read(page);
  if (shared_ && memory_->is_shared(page)) attached.shared = shared_->find(bytes);
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
  if (private_code_ > kMaxPrivateCode) {
    code_.clear();
    private_code_ = 0;
    std::memset(tlb_->fetch, 0xff, sizeof tlb_->fetch);
    tlb_->drop_jumps();
  }
  const CodePage* code = attach((pa - kRamBase) >> kPageShift).code();
  tlb_->note_fetch(pc);
  tlb_->fetch[s.mode][tlb_slot(pc)] = {pc & ~kPageMask, code};
  return code;
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
    tlb_->drop_code(attached.shared.get());
    attached.own = std::move(own);
    private_code_ += sizeof(CodePage);
  }
  CodePage& own = *attached.own;
  const unsigned offset = static_cast<unsigned>(pa & kPageMask);
  Op slots[kMaxBlock + 2];
  const unsigned count = decode_block(own.bytes, offset, kMaxBlock, slots);
  const u64 before = own.own.capacity();
  const Op* place = own.own.data();
  if (!own.add(offset, slots, count)) {
    // So many overlapping blocks that the index cannot reach them: start the page again.
    std::memset(own.index, 0, sizeof own.index);
    own.own.clear();
    own.base.reset();
    own.part[0] = nullptr;
    own.add(offset, slots, count);
    tlb_->drop_jumps();
  }
  private_code_ += (own.own.capacity() - before) * sizeof(Op);
  if (own.own.data() != place) tlb_->drop_jumps();
  tlb_->note_fetch(pc);
  tlb_->fetch[s.mode][tlb_slot(pc)] = {pc & ~kPageMask, &own};
  return &own;
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
  const CodePage* code = attached.code();
  if (code == nullptr) return;
  if (tlb_ != nullptr) tlb_->drop_code(code);
  if (attached.own) {
    private_code_ -= std::min(private_code_, attached.own->footprint());
    graveyard_.push_back(std::move(attached.own));
  }
  if (attached.shared) shared_graveyard_.push_back(std::move(attached.shared));
}

void Core::page_written(u64 page, bool moved) {
  if (tlb_ == nullptr) {
    // Written from outside `run`, perhaps on a thread whose TLB is not ours.
    stamp_ = 0;
  } else {
    if (moved) tlb_->drop_reads_of(page);
    if (!own_table_write_ && tlb_->tables.find(page) != nullptr) flush_tlb();
  }
  const auto found = code_.find(static_cast<u32>(page));
  if (found == code_.end()) return;
  if (tlb_ != nullptr) break_block();
  retire_page(found->second);
  code_.erase(found);
}

void Core::drop_translations() {
  stamp_ = 0;
}

void Core::drop_code() {
  drop_translations();
  code_.clear();
  private_code_ = 0;
}

std::shared_ptr<const SharedBlocks> Core::share_blocks() {
  drop_translations();
  auto blocks = std::make_shared<SharedBlocks>();
  // A former golden's pages go on serving, as long as this memory still shows them at their address.
  if (shared_) {
    for (u64 page = 0; page < memory_->pages(); ++page) {
      if (!memory_->is_shared(page)) continue;
      const u8* bytes = memory_->page_for_read(page);
      if (auto found = shared_->find(bytes)) blocks->put(bytes, std::move(found));
    }
  }
  for (const auto& [page, attached] : code_) {
    const u8* bytes = memory_->page_for_read(page);
    if (!attached.own) {
      if (attached.shared) blocks->put(bytes, attached.shared);
    } else if (auto flat = attached.own->flattened(memory_->hold(page))) {
      blocks->put(bytes, std::move(flat));
    }
  }
  return blocks;
}

}  // namespace shinken
