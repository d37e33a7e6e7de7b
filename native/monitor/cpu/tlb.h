#pragma once
// The software TLB of a thread. It belongs to whichever hart last ran there (its stamp says which) and holds
// nothing that the hart could not walk again.
#include <cstring>
#include <vector>

#include "monitor/cpu/code_page.h"
#include "monitor/memory/guest_memory.h"

namespace shinken {

inline constexpr unsigned kTlbEntries = 512;
/// The kernel's code alone is 2,500 pages.
inline constexpr unsigned kFetchEntries = 2048;
/// A data translation that makes way for another one stays in the second way of its slot, in the same cache
/// line: pages that are a multiple of 2 MiB apart meet in a slot, as the kernel's stacks, page structures and
/// variables do.
inline constexpr unsigned kTlbWays = 2;
inline constexpr u64 kInvalidTag = ~u64{0};

inline unsigned tlb_slot(u64 va) {
  return (va >> kPageShift) & (kTlbEntries - 1);
}

inline unsigned fetch_slot(u64 pc) {
  return (pc >> kPageShift) & (kFetchEntries - 1);
}

inline bool upper_half(u64 va) {
  return va >> 63 != 0;
}

struct TlbEntry {
  u64 tag;     // virtual page address, or kInvalidTag
  u64 addend;  // host address of the page minus its virtual address
};

/// log2 of the bytes between two slots.
inline constexpr unsigned kTlbSlotShift = 5;
static_assert(sizeof(TlbEntry) * kTlbWays == 1 << kTlbSlotShift);

/// The first way of the slot, in as few instructions as the loop's most frequent step deserves.
inline const TlbEntry& tlb_entry(const TlbEntry* entries, u64 va) {
  const u64 offset = va >> (kPageShift - kTlbSlotShift) & (u64{kTlbEntries - 1} << kTlbSlotShift);
  return *reinterpret_cast<const TlbEntry*>(reinterpret_cast<const u8*>(entries) + offset);
}

/// Which permissions a data translation was made with.
enum class TlbContext : u8 { kUser, kSupervisor, kSupervisorSum, kCount };

/// Data translations of one context, by kind of access: slot * kTlbWays + way.
struct alignas(1 << kTlbSlotShift) DataTlb {
  TlbEntry read[kTlbWays * kTlbEntries];
  TlbEntry write[kTlbWays * kTlbEntries];
  u32 read_page[kTlbWays * kTlbEntries];  // physical page numbers, meaningful where the tag is valid
  u32 write_page[kTlbWays * kTlbEntries];
};

/// Where an aligned access finds its translation; the second way's place if neither way has it, and then the
/// tag there is another one. `size`: a power of two.
inline unsigned tlb_place(const TlbEntry* entries, u64 va, unsigned size) {
  const unsigned first = kTlbWays * tlb_slot(va);
  return entries[first].tag == (va & (~kPageMask | (size - 1))) ? first : first + 1;
}
inline void tlb_fill(TlbEntry* entries, u32* pages, u64 va, const u8* host, u64 page) {
  const unsigned first = kTlbWays * tlb_slot(va);
  const u64 tag = va & ~kPageMask;
  if (entries[first].tag != tag && entries[first].tag != kInvalidTag) {
    entries[first + 1] = entries[first];
    pages[first + 1] = pages[first];
  }
  entries[first] = {tag, reinterpret_cast<u64>(host) - tag};
  pages[first] = static_cast<u32>(page);
}

struct FetchEntry {
  u64 tag;
  const CodePage* code;
  bool own;  // the hart's, not a golden's
};

/// Straight from a jump's target to its block, for jumps out of the page: a page's index, its parts and the
/// fetch translation would be a cache miss each. Entries of an older epoch mean nothing. An address is in its
/// slot or in one of that slot's neighbours, which are the same cache line.
struct JumpEntry {
  u64 pc;
  u64 native;  // the block translated, or 0, in the low 47 bits; then kOwnBlock; above them the epoch
};
/// The same for the interpreter, which looks at it less often.
struct JumpBlock {
  const BlockHeader* block;
  const CodePage* page;
};
inline constexpr unsigned kJumpEntries = 16384;
inline constexpr unsigned kJumpWays = 4;
inline constexpr unsigned kJumpHashShift = 13;
inline constexpr unsigned kEpochShift = 48;
/// The block is the hart's, not a golden's.
inline constexpr u64 kOwnBlock = u64{1} << 47;
inline constexpr unsigned kSlotsOfPage = kPageSize / 2;
static_assert(kJumpHashShift > kPageShift && kJumpEntries >= kSlotsOfPage);
inline unsigned jump_slot(u64 pc) {
  return static_cast<unsigned>(pc >> 1 ^ pc >> kJumpHashShift) & (kJumpEntries - 1);
}
struct JumpCache {
  u64 epoch = 1;  // below 1 << 16
  u64 lower = 0;  // not 0: an entry of this epoch may have an address of the lower half
  u64 fresh = 0;  // not 0: such an entry came since the last drop
  alignas(kJumpWays * sizeof(JumpEntry)) JumpEntry entries[kJumpEntries] = {};
  JumpBlock blocks[kJumpEntries] = {};

  bool knows(unsigned slot, u64 pc) const {
    return entries[slot].pc == pc && entries[slot].native >> kEpochShift == epoch;
  }
  /// Where `pc` is; if it is in none of its slots, one that does not know it.
  unsigned slot_of(u64 pc) const {
    const unsigned slot = jump_slot(pc);
    unsigned way = 0;
    while (way < kJumpWays - 1 && !knows(slot ^ way, pc)) ++way;
    return slot ^ way;
  }
  /// Page after page goes while nothing of the lower half executes: the process ends, and all of it will go.
  bool drop_lower_at_once(u64 va) {
    if (upper_half(va)) return false;
    if (fresh == 0) return drop(), true;
    fresh = 0;
    return false;
  }
  /// Forgets what lies in the virtual page at `va`: its addresses share the upper bits of their slots.
  void drop_va(u64 va) {
    if (drop_lower_at_once(va)) return;
    const unsigned first = jump_slot(va) & ~(kSlotsOfPage - 1);
    for (unsigned i = first; i < first + kSlotsOfPage; ++i) {
      if ((entries[i].pc ^ va) >> kPageShift == 0) entries[i].native = 0;
    }
  }
  void drop_range(u64 va, unsigned shift) {
    if (drop_lower_at_once(va)) return;
    for (JumpEntry& entry : entries) {
      if ((entry.pc ^ va) >> shift == 0) entry.native = 0;
    }
  }
  /// Where pages may have blocks, by a hash of the page: one bit for each part of the slots that addresses of
  /// one virtual page share. Without it a guest that writes its own code would have all slots looked at for
  /// every store.
  static constexpr unsigned kParts = kJumpEntries / kSlotsOfPage, kPageHashes = 256;
  u8 parts[kPageHashes] = {};
  static_assert(kParts == 8);
  static unsigned page_hash(const CodePage* page) {
    return static_cast<unsigned>(reinterpret_cast<u64>(page) * 0x9e3779b97f4a7c15 >> 56);
  }

  /// Forgets the blocks of one page, which moved or go.
  void drop_page(const CodePage* page) {
    const unsigned hash = page_hash(page);
    for (unsigned part = 0; part < kParts; ++part) {
      if ((parts[hash] >> part & 1) == 0) continue;
      bool others = false;
      for (unsigned i = part * kSlotsOfPage; i < (part + 1) * kSlotsOfPage; ++i) {
        if (blocks[i].page == page) {
          entries[i].native = 0, blocks[i].page = nullptr;
        } else if (blocks[i].page != nullptr && page_hash(blocks[i].page) == hash) {
          others = true;
        }
      }
      if (!others) parts[hash] &= static_cast<u8>(~(1u << part));
    }
  }
  /// `own`: see `FetchEntry`.
  void note(u64 pc, const BlockHeader* block, const CodePage* page, bool own) {
    const unsigned slot = jump_slot(pc);
    // What is there moves on, up to the first place that is free or has this very address.
    unsigned way = 0;
    while (way < kJumpWays - 1 && entries[slot ^ way].pc != pc &&
           entries[slot ^ way].native >> kEpochShift == epoch)
      ++way;
    for (; way > 0; --way) {
      entries[slot ^ way] = entries[slot ^ (way - 1)];
      blocks[slot ^ way] = blocks[slot ^ (way - 1)];
    }
    entries[slot] = {pc, reinterpret_cast<u64>(block->native) | (own ? kOwnBlock : 0) | epoch << kEpochShift};
    blocks[slot] = {block, page};
    parts[page_hash(page)] |= static_cast<u8>(1u << slot / kSlotsOfPage);
    if (!upper_half(pc)) lower = fresh = 1;
  }
  /// Keeps what a golden's blocks answer in the upper half, unless it is unwanted(address, block).
  template <class Unwanted>
  void keep_shared(Unwanted unwanted) {
    lower = 0;
    for (unsigned i = 0; i < kJumpEntries; ++i) {
      JumpEntry& entry = entries[i];
      if (entry.native >> kEpochShift != epoch) continue;
      if (!upper_half(entry.pc) || (entry.native & kOwnBlock) != 0 || unwanted(entry.pc, blocks[i]))
        entry.native = 0;
    }
  }
  void drop() {
    lower = fresh = 0;
    if (++epoch >> (64 - kEpochShift) == 0) return;
    epoch = 1;
    std::memset(entries, 0, sizeof entries);
  }
};

/// Physical pages that were read as page tables while filling this TLB, with the virtual range they map, so
/// that a store to one can drop what came from it. Open addressing; when it is full the whole TLB is dropped.
class PageTableSet {
 public:
  static constexpr unsigned kCapacity = 2048;
  static constexpr unsigned kMaxUsed = kCapacity / 2;
  static constexpr u8 kShared = 0xff;     // level: the table was reached by more than one path
  static constexpr u8 kForgotten = 0xfe;  // level: nothing that came from the table is left

  struct Entry {
    u64 va;    // first address that the table maps
    u32 page;  // physical page number + 1; 0 = free
    u8 level;  // 0: its entries map 4 KiB pages
    u8 copy;   // which of `copies` holds its content, or one of the two below
    /// Whether the content must be copied before another hart can take over what came from the table.
    bool stale;
  };
  static constexpr u8 kNoCopy = 0xff;

  void clear() {
    stale_.clear();
    if (used_ == 0) return;
    std::memset(entries_, 0, sizeof entries_);
    used_ = 0;
  }
  Entry* find(u64 page) {
    for (unsigned at = hash(page);; at = (at + 1) & (kCapacity - 1)) {
      if (entries_[at].page == 0) return nullptr;
      if (entries_[at].page == page + 1) return entries_[at].level == kForgotten ? nullptr : &entries_[at];
    }
  }
  /// True if `note` would change nothing.
  bool knows(u64 page, unsigned level, u64 va) {
    const Entry* entry = find(page);
    return entry != nullptr && (entry->level == kShared || (entry->level == level && entry->va == va));
  }
  bool full() const { return used_ >= kMaxUsed; }
  /// The only entry that led to the table is gone, and so is all that came from it. A table that was reached
  /// otherwise stays.
  void forget(u64 page, unsigned level, u64 va) {
    Entry* entry = find(page);
    if (entry != nullptr && entry->level == level && entry->va == va) entry->level = kForgotten;
  }
  /// To be called before a table changes.
  void changes(Entry& entry) {
    if (entry.stale || !upper_half(entry.va)) return;
    entry.stale = true;
    stale_.push_back(entry.page - 1);
  }
  template <class Visit>
  void for_each(Visit visit) {
    for (Entry& entry : entries_) {
      if (entry.page != 0 && entry.level != kForgotten) visit(entry);
    }
  }
  /// Tables of the upper half whose content may differ from their copies; the caller empties it.
  std::vector<u64>& stale() { return stale_; }
  /// Forgets the tables that only addresses of the lower half led through, and the roots.
  void keep_upper_half();
  /// True if the page is new to the set. The caller makes sure that it is not full.
  bool note(u64 page, unsigned level, u64 va);

 private:
  static unsigned hash(u64 page) { return static_cast<unsigned>(page * 0x9e3779b1u >> 7) & (kCapacity - 1); }
  Entry entries_[kCapacity] = {};
  unsigned used_ = 0;
  std::vector<u64> stale_;
};

/// Where the walk for a range of 2 MiB found its last table: nearly every miss starts there. Stands and falls
/// with the translations, since a store to any table above it drops them all.
struct WalkEntry {
  u64 tag;    // virtual address >> kWalkShift, or kInvalidTag
  u64 table;  // physical address
};
inline constexpr unsigned kWalkEntries = 128;
inline constexpr unsigned kWalkShift = kPageShift + 9;

/// What a hart leaves behind for the next one on its thread, if both descend from one golden: the kernel's
/// half of the fetch translations and far jumps. The tables that they came from are compared byte by byte
/// before they are believed.
struct Estate {
  static constexpr unsigned kMaxTables = 48;
  struct Table {
    u64 page;
    u8 bytes[kPageSize];
  };
  u64 golden = 0;          // number of the shared blocks; 0: nothing is left
  u8 root[kPageSize / 2];  // the upper half of the root
  std::vector<Table> tables;
};

struct Tlb {
  u64 stamp = 0;  // of the hart whose translations these are; 0 = nobody's
  DataTlb data[static_cast<unsigned>(TlbContext::kCount)] = {};
  FetchEntry fetch[2][kFetchEntries];  // by mode
  JumpCache jumps[2];                  // by mode
  WalkEntry walks[kWalkEntries];
  PageTableSet tables;
  Estate estate;

  WalkEntry& walk_entry(u64 va) { return walks[va >> kWalkShift & (kWalkEntries - 1)]; }

  Tlb() { clear(); }
  void clear();
  /// Drops the translations of one virtual page.
  void drop_va(u64 va);
  /// Drops the translations of the 1 << `shift` bytes at `va`, at least 2 MiB, in one half.
  void drop_range(u64 va, unsigned shift);
  /// Drops the lower half of the address space, and what is known of the tables that led there.
  void drop_lower_half();
  /// Drops read (or write) translations that lead to a physical page.
  void drop_reads_of(u64 page);
  void drop_writes_of(u64 page);
  void drop_writes();
  /// At the end of a run: notes what another hart must have in common to go on from here. `root`: the root's
  /// page.
  void bequeath(GuestMemory& memory, u64 root, u64 golden);
  /// Takes over what the former hart left; false if it is nothing, and then `clear` is due.
  bool inherit(GuestMemory& memory, u64 root, const SharedBlocks& blocks);
  void drop_code(const CodePage* code);
  void drop_fetches_of(const CodePage* code);
  void drop_jumps_of(const CodePage* page) {
    for (JumpCache& mode : jumps) mode.drop_page(page);
  }
  /// To be called whenever any fetch translation may be gone.
  void drop_jumps() {
    for (JumpCache& mode : jumps) mode.drop();
  }
  /// The same where only addresses of the lower half are concerned: the kernel's outlive a process.
  void drop_lower_jumps() {
    for (JumpCache& mode : jumps) {
      if (mode.lower != 0) mode.drop();
    }
  }
  void note_fetch(u64 va) { note(fetch_filter_[upper_half(va)], va >> kPageShift); }
  /// To be called whenever an entry of `context`, one of `data`, that leads to `page` is filled in.
  void note_read(const DataTlb* context, u64 page) { note(read_filter_[context - data], page); }
  void note_write(const DataTlb* context, u64 page) { note(write_filter_[context - data], page); }

 private:
  // One bit per hash of a physical page that may have entries, by context: most drops find none and end here.
  u64 read_filter_[static_cast<unsigned>(TlbContext::kCount)][16];
  u64 write_filter_[static_cast<unsigned>(TlbContext::kCount)][16];
  u64 fetch_filter_[2][16];  // by half and virtual page
  template <class Unwanted>
  void drop_where(Unwanted unwanted);
  void note(u64* filter, u64 page) { filter[page >> 6 & 15] |= u64{1} << (page & 63); }
  bool may_have(const u64* filter, u64 page) const { return filter[page >> 6 & 15] >> (page & 63) & 1; }
};

/// The calling thread's TLB.
Tlb& thread_tlb();

}  // namespace shinken
