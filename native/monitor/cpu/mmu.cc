// Sv39. Source: The RISC-V Instruction Set Manual, Volume II: Privileged Architecture (20211203), chapter 4.
#include <cstring>

#include "monitor/cpu/core.h"

namespace shinken {

namespace {

constexpr u64 kPteValid = 1, kPteRead = 2, kPteWrite = 4, kPteExecute = 8, kPteUser = 16;
constexpr u64 kPteAccessed = 64, kPteDirty = 128;
constexpr u64 kPteReserved = u64{0x3ff} << 54;  // Svnapot and Svpbmt are absent
constexpr unsigned kLevels = 3;

constexpr u64 kPageFaults[3] = {kLoadPageFault, kStorePageFault, kFetchPageFault};
constexpr u64 kAccessFaults[3] = {kLoadAccess, kStoreAccess, kFetchAccess};

bool canonical(u64 va) {
  return static_cast<i64>(va << 25) >> 25 == static_cast<i64>(va);
}
u64 sign_extended(u64 va) {
  return static_cast<u64>(static_cast<i64>(va << 25) >> 25);
}
/// First address that the table which `va` was looked up in maps; a root maps both halves.
u64 first_mapped(unsigned level, u64 va) {
  const u64 span = kPageShift + 9 * (level + 1);
  return level == kLevels - 1 ? 0 : sign_extended(va >> span << span);
}

}  // namespace

void Core::flush_tlb() {
  if (tlb_ == nullptr) {
    stamp_ = 0;
    return;
  }
  break_block();
  tlb_->clear();
  bus_->on_translations_dropped();
}

bool Core::permitted(u64 pte, Access access) const {
  if (pte & kPteUser) {
    if (s.mode == 1 && (access == Access::kFetch || !(s.sstatus & kSstatusSum))) return false;
  } else if (s.mode == 0) {
    return false;
  }
  switch (access) {
    case Access::kRead:
      return (pte & kPteRead) || ((s.sstatus & kSstatusMxr) && (pte & kPteExecute));
    case Access::kWrite:
      return (pte & kPteWrite) != 0;
    default:
      return (pte & kPteExecute) != 0;
  }
}

/// A new root. What the kernel maps is the same in all address spaces: if the tables agree on the upper half,
/// its translations stay.
void Core::switch_root(u64 satp) {
  const auto root_of = [](u64 value) { return (value & kSatpPpn) << kPageShift; };
  const u64 from = root_of(s.satp);
  const u64 to = root_of(satp);
  const bool tables = s.satp != 0 && satp != 0 && memory_->contains(from, kPageSize) &&
                      memory_->contains(to, kPageSize) && !tlb_->tables.full();
  constexpr u64 kHalf = kPageSize / 2;
  if (!tables || std::memcmp(memory_->page_for_read((from - kRamBase) >> kPageShift) + kHalf,
                             memory_->page_for_read((to - kRamBase) >> kPageShift) + kHalf, kHalf) != 0) {
    flush_tlb();
    return;
  }
  break_block();
  tlb_->drop_lower_half();
  bus_->on_translations_dropped();
  note_root(to);
}

/// What is kept came from its upper half.
void Core::note_root(u64 root) {
  note_table((root - kRamBase) >> kPageShift, kLevels - 1, 0);
}

void Core::note_table(u64 page, unsigned level, u64 va) {
  if (!tlb_->tables.note(page, level, first_mapped(level, va))) return;
  memory_->watch(page);
  tlb_->drop_writes_of(page);
}

void Core::set_pte_bits(u64 page, u64 offset, u64 pte) {
  if (PageTableSet::Entry* table = tlb_->tables.find(page)) tlb_->tables.changes(*table);
  own_table_write_ = true;
  std::memcpy(memory_->page_for_write(page) + offset, &pte, sizeof pte);
  own_table_write_ = false;
  memory_->watch(page);
}

bool Core::walk(u64 va, Access access, bool update, u64* pa) {
  const auto which = static_cast<unsigned>(access);
  fault_cause_ = kPageFaults[which];
  if (!canonical(va)) return false;
  if (tlb_->tables.full()) flush_tlb();
  u64 table = (s.satp & kSatpPpn) << kPageShift;
  int level = kLevels - 1;
  WalkEntry& last = tlb_->walk_entry(va);
  if (last.tag == va >> kWalkShift) {
    table = last.table;
    level = 0;
  }
  for (; level >= 0; --level) {
    const unsigned shift = kPageShift + 9 * static_cast<unsigned>(level);
    if (!memory_->contains(table, kPageSize)) {
      fault_cause_ = kAccessFaults[which];
      return false;
    }
    const u64 page = (table - kRamBase) >> kPageShift;
    const u64 offset = (va >> shift & 511) * 8;
    u64 pte = 0;
    std::memcpy(&pte, memory_->page_for_read(page) + offset, sizeof pte);
    note_table(page, static_cast<unsigned>(level), va);
    if (level == 0) last = {va >> kWalkShift, table};
    if (!(pte & kPteValid) || (pte & kPteReserved) || (pte & (kPteRead | kPteWrite)) == kPteWrite)
      return false;
    const u64 target = (pte >> 10 & kSatpPpn) << kPageShift;
    if (!(pte & (kPteRead | kPteExecute))) {
      if (pte & (kPteUser | kPteAccessed | kPteDirty)) return false;  // reserved in pointers
      table = target;
      continue;
    }
    const u64 within = (u64{1} << shift) - 1;
    if (!permitted(pte, access) || (target & within)) return false;
    const u64 wanted = pte | kPteAccessed | (access == Access::kWrite ? kPteDirty : 0);
    if (update && wanted != pte) set_pte_bits(page, offset, wanted);
    *pa = target | (va & within);
    return true;
  }
  return false;
}

/// A walk for a permitted access that finds nothing to change: A and D bits are set, the tables known.
bool Core::walk_quietly(u64 va, Access access, u64* pa) {
  if (s.satp == 0 || !canonical(va)) return false;
  u64 table = root();
  unsigned level = kLevels - 1;
  const WalkEntry& last = tlb_->walk_entry(va);
  if (last.tag == va >> kWalkShift) {
    table = last.table;
    level = 0;
  }
  for (;; --level) {
    if (!memory_->contains(table, kPageSize)) return false;
    const unsigned shift = kPageShift + 9 * level;
    const u64 page = (table - kRamBase) >> kPageShift;
    if (!tlb_->tables.knows(page, level, first_mapped(level, va))) return false;
    u64 pte = 0;
    std::memcpy(&pte, memory_->page_for_read(page) + (va >> shift & 511) * 8, sizeof pte);
    if (!(pte & kPteValid) || (pte & kPteReserved)) return false;
    const u64 target = (pte >> 10 & kSatpPpn) << kPageShift;
    if (pte & (kPteRead | kPteExecute)) {
      const u64 within = (u64{1} << shift) - 1;
      const u64 wanted = kPteAccessed | (access == Access::kWrite ? kPteDirty : 0);
      if ((pte & wanted) != wanted || (target & within) || !permitted(pte, access)) return false;
      if ((pte & (kPteRead | kPteWrite)) == kPteWrite) return false;
      *pa = target | (va & within);
      return true;
    }
    if (level == 0 || (pte & (kPteWrite | kPteUser | kPteAccessed | kPteDirty))) return false;
    table = target;
  }
}

bool Core::translate(u64 va, Access access, bool update, u64* pa) {
  if (s.satp == 0) {
    fault_cause_ = kAccessFaults[static_cast<unsigned>(access)];
    *pa = va;
    return true;
  }
  if (!walk(va, access, update, pa)) return false;
  fault_cause_ = kAccessFaults[static_cast<unsigned>(access)];
  return true;
}

}  // namespace shinken
