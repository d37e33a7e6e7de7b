// Handing a thread's translations from one hart to the next.
#include <algorithm>

#include "monitor/cpu/tlb.h"

namespace shinken {

void Tlb::bequeath(GuestMemory& memory, u64 root, u64 golden) {
  estate.golden = 0;
  if (golden == 0) return;
  for (const u64 page : tables.stale()) {
    PageTableSet::Entry* entry = tables.find(page);
    if (entry == nullptr || !entry->stale || entry->level > 1) continue;
    if (entry->copy == PageTableSet::kNoCopy) {
      if (estate.tables.size() == Estate::kMaxTables) return;  // and never again before a clear
      entry->copy = static_cast<u8>(estate.tables.size());
      estate.tables.emplace_back();
    }
    estate.tables[entry->copy].page = page;
    std::memcpy(estate.tables[entry->copy].bytes, memory.page_for_read(page), kPageSize);
    entry->stale = false;
  }
  tables.stale().clear();
  std::memcpy(estate.root, memory.page_for_read(root) + kPageSize / 2, sizeof estate.root);
  estate.golden = golden;
}

bool Tlb::inherit(GuestMemory& memory, u64 root, const SharedBlocks& blocks) {
  if (estate.golden != blocks.number()) return false;
  if (std::memcmp(estate.root, memory.page_for_read(root) + kPageSize / 2, sizeof estate.root) != 0)
    return false;
  tables.keep_upper_half();
  bool sound = true;
  std::vector<u64> changed;  // first addresses of 2 MiB ranges whose last table is another one here
  tables.for_each([&](PageTableSet::Entry& entry) {
    const bool copied = entry.level <= 1 && entry.copy != PageTableSet::kNoCopy && !entry.stale;
    const bool same = copied && std::memcmp(estate.tables[entry.copy].bytes,
                                            memory.page_for_read(entry.page - 1), kPageSize) == 0;
    if (same) {
      memory.watch(entry.page - 1);
    } else if (entry.level == 0) {
      changed.push_back(entry.va);
      entry.level = PageTableSet::kForgotten;
    } else {
      sound = false;
    }
  });
  // A page that this machine wrote is no longer the golden's.
  std::vector<const CodePage*> foreign;
  for (const SharedBlocks::Place& place : blocks.places()) {
    if (memory.shared_page(place.page) != place.bytes) foreign.push_back(place.code);
  }
  if (!sound) return false;

  for (DataTlb& context : data) {
    std::memset(context.read, 0xff, sizeof context.read);
    std::memset(context.write, 0xff, sizeof context.write);
  }
  std::memset(read_filter_, 0, sizeof read_filter_);
  std::memset(write_filter_, 0, sizeof write_filter_);
  std::memset(fetch_filter_[0], 0, sizeof fetch_filter_[0]);
  const auto unwanted = [&](u64 va, const CodePage* page) {
    const auto within = [va](u64 range) { return (va ^ range) >> kWalkShift == 0; };
    return std::any_of(changed.begin(), changed.end(), within) ||
           std::find(foreign.begin(), foreign.end(), page) != foreign.end();
  };
  for (auto& mode : fetch) {
    for (FetchEntry& entry : mode) {
      if (entry.tag == kInvalidTag) continue;
      if (!upper_half(entry.tag) || entry.own || unwanted(entry.tag, entry.code)) entry.tag = kInvalidTag;
    }
  }
  for (WalkEntry& entry : walks) {
    const u64 va = static_cast<u64>(static_cast<i64>(entry.tag << kWalkShift));
    if (!upper_half(va) || unwanted(va, nullptr)) entry.tag = kInvalidTag;
  }
  jumps[0].drop();  // user mode has nothing to execute in the upper half
  if (changed.empty() && foreign.empty()) {
    jumps[1].keep_shared([](u64, const JumpBlock&) { return false; });
  } else {
    jumps[1].keep_shared([&](u64 va, const JumpBlock& known) { return unwanted(va, known.page); });
  }
  return true;
}

}  // namespace shinken
