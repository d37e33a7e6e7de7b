// Loads and stores that the TLB did not answer: misses, devices, misaligned accesses, watched pages.
#include <cstring>

#include "monitor/cpu/core.h"

namespace shinken {

namespace {

u64 page_of(u64 pa) {
  return (pa - kRamBase) >> kPageShift;
}
u8* host_at(u64 address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a TLB entry holds host minus guest address.
  return reinterpret_cast<u8*>(address);
}
bool same_page(u64 va, unsigned size) {
  return (va & kPageMask) + size <= kPageSize;
}

}  // namespace

bool Core::mmio_load(u64 va, u64 pa, unsigned size, u64* value) {
  break_block();  // the device may raise an interrupt
  s.reservation = ~u64{0};
  *value = 0;
  if (bus_->mmio_read(pa, size, value)) return true;
  return fault(va);
}

bool Core::mmio_store(u64 va, u64 pa, unsigned size, u64 value) {
  break_block();
  s.reservation = ~u64{0};
  if (bus_->mmio_write(pa, size, value)) return true;
  return fault(va);
}

/// For translated code, which goes on as if the TLB had known the translation: so nothing may change but the
/// TLB. 0 if that cannot be.
u64 Core::refill(u64 va, bool write, DataTlb* data) {
  u64 pa = 0;
  if (!walk_quietly(va, write ? Access::kWrite : Access::kRead, &pa)) return 0;
  if (!memory_->contains(pa, 1)) return 0;
  data_ = data;
  if (!write) return reinterpret_cast<u64>(ram_for_read(va, pa));
  const u64 page = page_of(pa);
  if (memory_->is_shared(page) || tlb_->tables.find(page) != nullptr ||
      code_.count(static_cast<u32>(page)) != 0)
    return 0;
  const u8* before = memory_->page_for_read(page);
  const u8* host = nullptr;
  try {
    host = ram_for_write(va, pa);
  } catch (...) {
    return 0;  // no memory: it cannot be thrown through translated code, and will be again from the
               // interpreter
  }
  // A page of zeros got a place of its own: whoever knows the old one must look again.
  return before + (pa & kPageMask) == host ? reinterpret_cast<u64>(host) : 0;
}

bool Core::load_slow(u64 va, unsigned size, u64* value) {
  if (va & (size - 1)) return load_misaligned(va, size, value);
  if (const TlbEntry& entry = data_->read[tlb_place(data_->read, va, size)]; entry.tag == (va & ~kPageMask)) {
    *value = 0;
    std::memcpy(value, host_at(va + entry.addend), size);
    return true;
  }
  u64 pa = 0;
  if (!translate(va, Access::kRead, true, &pa)) return fault(va);
  if (!memory_->contains(pa, size)) return mmio_load(va, pa, size, value);
  *value = 0;
  std::memcpy(value, ram_for_read(va, pa), size);
  return true;
}

/// Host address for a load from RAM; fills the read entry.
const u8* Core::ram_for_read(u64 va, u64 pa) {
  const u64 page = page_of(pa);
  const u8* host = memory_->page_for_read(page);
  tlb_fill(data_->read, data_->read_page, va, host, page);
  tlb_->note_read(data_, page);
  return host + (pa & kPageMask);
}

/// A store into a page that was walked as a page table: what came from a valid entry is dropped with the
/// entry.
u8* Core::store_to_table(PageTableSet::Entry table, u64 page, u64 offset) {
  tlb_->tables.changes(*tlb_->tables.find(page));
  u64 old = 0;
  std::memcpy(&old, memory_->page_for_read(page) + (offset & ~u64{7}), sizeof old);
  if (old & 1) {
    const u64 index = offset >> 3;
    const unsigned shift = kPageShift + 9 * table.level;
    if (table.level == 0) {
      const u64 va = table.va + (index << kPageShift);
      if (((va ^ s.pc) & ~kPageMask) == 0) break_block_ = true;  // the caller has synced
      tlb_->drop_va(va);
    } else if (table.level == 1 || (table.level == 2 && index < 256)) {
      const u64 va = table.va + (index << shift);
      if ((va ^ s.pc) >> shift == 0) break_block_ = true;
      tlb_->drop_range(va, shift);
      // The kernel is about to use that page for something else.
      const u64 below = (old >> 10 & kSatpPpn) << kPageShift;
      if (memory_->contains(below, kPageSize)) tlb_->tables.forget(page_of(below), table.level - 1u, va);
    } else {
      flush_tlb();
    }
  }
  own_table_write_ = true;
  u8* host = memory_->page_for_write(page);
  own_table_write_ = false;
  // While the TLB holds translations from this page it stays watched, and out of the write entries.
  if (tlb_->tables.find(page) != nullptr) memory_->watch(page);
  return host + offset;
}

/// Host address for a store to RAM; fills the write entry unless the page stays watched.
u8* Core::ram_for_write(u64 va, u64 pa) {
  const u64 page = page_of(pa);
  const u64 offset = pa & kPageMask;
  const auto code = code_.find(static_cast<u32>(page));
  const PageTableSet::Entry* table = tlb_->tables.find(page);
  if (code != code_.end() || table != nullptr) sync();  // while the bytes of the block are still as decoded
  if (table != nullptr) return store_to_table(*table, page, offset);
  u8* host = memory_->page_for_write(page);
  tlb_fill(data_->write, data_->write_page, va, host, page);
  tlb_->note_write(data_, page);
  return host + offset;
}

bool Core::store_slow(u64 va, unsigned size, u64 value) {
  if (va & (size - 1)) return store_misaligned(va, size, value);
  if (const TlbEntry& entry = data_->write[tlb_place(data_->write, va, size)];
      entry.tag == (va & ~kPageMask)) {
    std::memcpy(host_at(va + entry.addend), &value, size);
    return true;
  }
  u64 pa = 0;
  if (!translate(va, Access::kWrite, true, &pa)) return fault(va);
  if (!memory_->contains(pa, size)) return mmio_store(va, pa, size, value);
  std::memcpy(ram_for_write(va, pa), &value, size);
  return true;
}

u8* Core::rmw_slow(u64 va, unsigned size) {
  if (const TlbEntry& entry = data_->write[tlb_place(data_->write, va, size)]; entry.tag == (va & ~kPageMask))
    return host_at(va + entry.addend);
  u64 pa = 0;
  if (!translate(va, Access::kWrite, true, &pa) || !memory_->contains(pa, size)) {
    fault(va);
    return nullptr;
  }
  return ram_for_write(va, pa);
}

bool Core::load_reserved(u64 va, unsigned size, u64* value) {
  *value = 0;
  const unsigned place = tlb_place(data_->read, va, size);
  if (data_->read[place].tag == (va & ~kPageMask)) {
    std::memcpy(value, host_at(va + data_->read[place].addend), size);
    s.reservation = kRamBase + (u64{data_->read_page[place]} << kPageShift | (va & kPageMask));
    return true;
  }
  u64 pa = 0;
  if (!translate(va, Access::kRead, true, &pa) || !memory_->contains(pa, size)) return fault(va);
  std::memcpy(value, ram_for_read(va, pa), size);
  s.reservation = pa;
  return true;
}

bool Core::store_conditional(u64 va, unsigned size, u64 value, u64* failed) {
  const unsigned place = tlb_place(data_->write, va, size);
  if (data_->write[place].tag == (va & ~kPageMask)) {
    *failed = s.reservation != kRamBase + (u64{data_->write_page[place]} << kPageShift | (va & kPageMask));
    s.reservation = ~u64{0};
    if (!*failed) std::memcpy(host_at(va + data_->write[place].addend), &value, size);
    return true;
  }
  u64 pa = 0;
  if (!translate(va, Access::kWrite, true, &pa) || !memory_->contains(pa, size)) return fault(va);
  *failed = s.reservation != pa;
  s.reservation = ~u64{0};
  if (!*failed) std::memcpy(ram_for_write(va, pa), &value, size);
  return true;
}

bool Core::load_misaligned(u64 va, unsigned size, u64* value) {
  u64 pa = 0;
  if (!translate(va, Access::kRead, true, &pa) || !memory_->contains(pa, 1)) return fault(va);
  const unsigned first = same_page(va, size) ? size : static_cast<unsigned>(kPageSize - (va & kPageMask));
  *value = 0;
  std::memcpy(value, memory_->page_for_read(page_of(pa)) + (pa & kPageMask), first);
  if (first == size) return true;
  const u64 next = va + first;
  if (!translate(next, Access::kRead, true, &pa) || !memory_->contains(pa, 1)) return fault(next);
  std::memcpy(reinterpret_cast<u8*>(value) + first, memory_->page_for_read(page_of(pa)), size - first);
  return true;
}

bool Core::store_misaligned(u64 va, unsigned size, u64 value) {
  u64 pa = 0;
  u64 next_pa = 0;
  const unsigned first = same_page(va, size) ? size : static_cast<unsigned>(kPageSize - (va & kPageMask));
  const u64 next = va + first;
  if (first != size) {
    // All or nothing: both pages are checked before either is marked dirty.
    if (!translate(va, Access::kWrite, false, &pa) || !memory_->contains(pa, 1)) return fault(va);
    if (!translate(next, Access::kWrite, true, &next_pa) || !memory_->contains(next_pa, 1))
      return fault(next);
  }
  if (!translate(va, Access::kWrite, true, &pa) || !memory_->contains(pa, 1)) return fault(va);
  u8 bytes[8];
  std::memcpy(bytes, &value, sizeof bytes);
  if (first == size) {
    store_bytes(va, pa, bytes, size);
    return true;
  }
  store_bytes(va, pa, bytes, first);
  store_bytes(next, next_pa, bytes + first, size - first);
  return true;
}

/// Byte by byte, since a misaligned store may touch two page-table entries.
void Core::store_bytes(u64 va, u64 pa, const u8* bytes, unsigned count) {
  for (unsigned i = 0; i < count; ++i) *ram_for_write(va + i, pa + i) = bytes[i];
}

}  // namespace shinken
