#include "monitor/cpu/tlb.h"

namespace shinken {

bool PageTableSet::note(u64 page, unsigned level, u64 va) {
  for (unsigned at = hash(page);; at = (at + 1) & (kCapacity - 1)) {
    Entry& entry = entries_[at];
    if (entry.page == page + 1) {
      if (entry.level != level || entry.va != va) entry.level = kShared;
      return false;
    }
    if (entry.page == 0) {
      entry = {va, static_cast<u32>(page + 1), static_cast<u8>(level)};
      ++used_;
      return true;
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
  std::memset(read_filter_, 0, sizeof read_filter_);
  std::memset(write_filter_, 0, sizeof write_filter_);
  tables.clear();
}

void Tlb::drop_va(u64 va) {
  const unsigned slot = tlb_slot(va);
  const u64 tag = va & ~kPageMask;
  for (DataTlb& context : data) {
    if (context.read[slot].tag == tag) context.read[slot].tag = kInvalidTag;
    if (context.write[slot].tag == tag) context.write[slot].tag = kInvalidTag;
  }
  for (auto& mode : fetch) {
    if (mode[slot].tag == tag) mode[slot].tag = kInvalidTag;
  }
}

void Tlb::drop_reads_of(u64 page) {
  if (!may_have(read_filter_, page)) return;
  for (DataTlb& context : data) {
    for (unsigned i = 0; i < kTlbEntries; ++i) {
      if (context.read_page[i] == page) context.read[i].tag = kInvalidTag;
    }
  }
}

void Tlb::drop_writes_of(u64 page) {
  if (!may_have(write_filter_, page)) return;
  for (DataTlb& context : data) {
    for (unsigned i = 0; i < kTlbEntries; ++i) {
      if (context.write_page[i] == page) context.write[i].tag = kInvalidTag;
    }
  }
}

void Tlb::drop_code(const CodePage* code) {
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
