// Finding out, on the rare occasions when it matters, which instruction of a block is executing.
#include <algorithm>
#include <cstring>
#include <utility>

#include "monitor/cpu/core.h"
#include "monitor/cpu/decode.h"

namespace shinken {

namespace {

unsigned length_at(const u8* page, unsigned offset) {
  return (page[offset] & 3) == 3 ? 4 : 2;
}

}  // namespace

void Core::claim_tlb() {
  // A stamp is used once in the process: whoever ran on this thread in between has another one.
  static std::atomic<u64> last_stamp{0};
  const bool writes_void = std::exchange(writes_void_, false);
  if (stamp_ != 0 && tlb_->stamp == stamp_) {
    if (writes_void) tlb_->drop_writes();
    catch_up_with_outside();
    return;
  }
  outside_.clear();
  const bool shares = shared_ && translation_ != Translation::kNever && in_ram(root());
  if (shares && tlb_->inherit(*memory_, (root() - kRamBase) >> kPageShift, *shared_)) {
    note_root(root());
  } else {
    tlb_->clear();
  }
  stamp_ = tlb_->stamp = last_stamp.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Leaves the TLB for whoever runs next on this thread: perhaps a sibling.
void Core::release_tlb() {
  const bool shares = shared_ && translation_ != Translation::kNever && in_ram(root());
  if (shares) {
    tlb_->bequeath(*memory_, (root() - kRamBase) >> kPageShift, shared_->number());
  } else {
    tlb_->estate.golden = 0;
  }
  tlb_ = nullptr;
}

/// The next instret at which the loop must look around: the limit, the timer, or an exit request's chance.
u64 Core::next_stop(u64 limit, u64 slice) const {
  u64 stop = s.instret + std::min(slice, limit - s.instret);
  if ((s.sie & kInterruptTimer) && s.stimecmp > time())
    stop = std::min(stop, s.instret + (s.stimecmp - time()));
  return stop;
}

void Core::sync() {
  if (synced_) return;
  synced_ = true;
  const auto index = static_cast<unsigned>(where_.op - operations_of(where_.block));
  const u8* bytes = where_.page->bytes;
  unsigned offset = where_.block->offset;
  for (unsigned i = 0; i < index; ++i) offset += length_at(bytes, offset);
  length_ = length_at(bytes, offset);
  s.pc = where_.block_pc + (offset - where_.block->offset);
  s.instret = stop_ - where_.remaining + index;
}

u32 Core::current_raw() const {
  const unsigned offset = static_cast<unsigned>(s.pc & kPageMask);
  if (length_ == 4 && offset + 4 > kPageSize) return cross_raw_;
  u32 raw = 0;
  std::memcpy(&raw, where_.page->bytes + offset, length_);
  return raw;
}

}  // namespace shinken
