#include "monitor/cpu/tlb.h"

#include <iterator>

namespace shinken {

namespace {

void drop(TlbEntry* entries, const u32* pages, u32 page) {
  // Most of the time there is none, which a loop without a branch finds out several entries at a time.
  u32 hits = 0;
  for (unsigned i = 0; i < kTlbWays * kTlbEntries; ++i) hits |= pages[i] == page ? 1u : 0u;
  if (hits == 0) return;
  for (unsigned i = 0; i < kTlbWays * kTlbEntries; ++i) {
    if (pages[i] == page) entries[i].tag = kInvalidTag;
  }
}

}  // namespace

bool PageTableSet::note(u64 page, unsigned level, u64 va) {
  for (unsigned at = hash(page);; at = (at + 1) & (kCapacity - 1)) {
    Entry& entry = entries_[at];
    if (entry.page == page + 1) {
      if (entry.level == kForgotten) {
        entry = {va, entry.page, static_cast<u8>(level), entry.copy, false};
        changes(entry);
        return true;
      }
      if (entry.level != level || entry.va != va) entry.level = kShared;
      return false;
    }
    if (entry.page == 0) {
      entry = {va, static_cast<u32>(page + 1), static_cast<u8>(level), kNoCopy, false};
      changes(entry);
      ++used_;
      return true;
    }
  }
}

void PageTableSet::keep_upper_half() {
  Entry old[kCapacity];
  std::memcpy(old, entries_, sizeof old);
  const std::vector<u64> stale = std::move(stale_);
  clear();
  stale_ = stale;
  for (const Entry& entry : old) {
    if (entry.page == 0 || entry.level == kForgotten) continue;
    if (entry.level != kShared && !upper_half(entry.va)) continue;
    unsigned at = hash(entry.page - 1);
    while (entries_[at].page != 0) at = (at + 1) & (kCapacity - 1);
    entries_[at] = entry;
    ++used_;
  }
}

/// Drops whatever has a tag that `unwanted(first address)` is true of.
template <class Unwanted>
void Tlb::drop_where(Unwanted unwanted) {
  const auto drop_in = [&unwanted](auto& entries) {
    for (auto& entry : entries) entry.tag = unwanted(entry.tag) ? kInvalidTag : entry.tag;
  };
  for (DataTlb& context : data) drop_in(context.read), drop_in(context.write);
  for (auto& mode : fetch) drop_in(mode);
  for (WalkEntry& entry : walks) {
    // The lost high bits of its tag are sign bits.
    const u64 va = static_cast<u64>(static_cast<i64>(entry.tag << kWalkShift));
    if (unwanted(va)) entry.tag = kInvalidTag;
  }
}

void Tlb::drop_range(u64 va, unsigned shift) {
  drop_where([va, shift](u64 tag) { return (tag ^ va) >> shift == 0; });
  for (JumpCache& mode : jumps) {
    if (upper_half(va) || mode.lower != 0) mode.drop_range(va, shift);
  }
}

void Tlb::drop_lower_half() {
  drop_where([](u64 tag) { return !upper_half(tag); });
  drop_lower_jumps();
  tables.keep_upper_half();
  std::memset(fetch_filter_[0], 0, sizeof fetch_filter_[0]);
  std::memset(read_filter_, 0, sizeof read_filter_);
  std::memset(write_filter_, 0, sizeof write_filter_);
  for (const DataTlb& context : data) {
    for (unsigned i = 0; i < kTlbWays * kTlbEntries; ++i) {
      if (context.read[i].tag != kInvalidTag) note_read(&context, context.read_page[i]);
      if (context.write[i].tag != kInvalidTag) note_write(&context, context.write_page[i]);
    }
  }
}

void Tlb::clear() {
  // All ones is no valid tag; addends and page numbers do not matter then.
  for (DataTlb& context : data) {
    std::memset(context.read, 0xff, sizeof context.read);
    std::memset(context.write, 0xff, sizeof context.write);
  }
  std::memset(fetch, 0xff, sizeof fetch);
  drop_jumps();
  std::memset(walks, 0xff, sizeof walks);
  std::memset(read_filter_, 0, sizeof read_filter_);
  std::memset(write_filter_, 0, sizeof write_filter_);
  std::memset(fetch_filter_, 0, sizeof fetch_filter_);
  tables.clear();
  estate.golden = 0;
  estate.tables.clear();
}

void Tlb::drop_va(u64 va) {
  const unsigned slot = tlb_slot(va);
  const u64 tag = va & ~kPageMask;
  for (DataTlb& context : data) {
    for (unsigned place = kTlbWays * slot; place < kTlbWays * (slot + 1); ++place) {
      if (context.read[place].tag == tag) context.read[place].tag = kInvalidTag;
      if (context.write[place].tag == tag) context.write[place].tag = kInvalidTag;
    }
  }
  if (!may_have(fetch_filter_[upper_half(va)], va >> kPageShift)) return;
  for (auto& mode : fetch) {
    FetchEntry& entry = mode[fetch_slot(va)];
    if (entry.tag == tag) entry.tag = kInvalidTag;
  }
  // Its own entry may have made way for another's, and jumps may know it still.
  for (JumpCache& mode : jumps) {
    if (upper_half(va) || mode.lower != 0) mode.drop_va(va);
  }
}

void Tlb::drop_reads_of(u64 page) {
  for (unsigned i = 0; i < std::size(data); ++i) {
    if (may_have(read_filter_[i], page)) drop(data[i].read, data[i].read_page, static_cast<u32>(page));
  }
}

void Tlb::drop_writes_of(u64 page) {
  for (unsigned i = 0; i < std::size(data); ++i) {
    if (may_have(write_filter_[i], page)) drop(data[i].write, data[i].write_page, static_cast<u32>(page));
  }
}

void Tlb::drop_writes() {
  for (DataTlb& context : data) std::memset(context.write, 0xff, sizeof context.write);
  std::memset(write_filter_, 0, sizeof write_filter_);
}

void Tlb::drop_code(const CodePage* code) {
  drop_jumps_of(code);
  drop_fetches_of(code);
}

void Tlb::drop_fetches_of(const CodePage* code) {
  for (auto& mode : fetch) {
    for (FetchEntry& entry : mode) {
      if (entry.code == code) entry.tag = kInvalidTag;
    }
  }
}

Tlb& thread_tlb() {
  thread_local Tlb tlb;
  return tlb;
}

}  // namespace shinken
