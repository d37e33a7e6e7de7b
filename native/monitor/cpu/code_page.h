#pragma once
// Decoded code of one physical page, and the two places that keep such pages: a hart's private cache and the
// set that a golden shares with its descendants.
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "monitor/cpu/op.h"

namespace shinken {

class CodeArena;

/// A translated jump within the page whose target was not translated yet.
struct WaitingJump {
  const u8* place;  // of its distance
  u16 target;
};

/// Blocks of one page. Slots come in two parts, so that a hart can add blocks to a page whose first part
/// belongs to a golden: index entries below 0x8000 point into part 0, the others into part 1.
struct CodePage {
  CodePage() = default;
  ~CodePage();
  CodePage(const CodePage&) = delete;
  CodePage& operator=(const CodePage&) = delete;

  /// By half-word offset: where the block that starts there is; 0 = not decoded.
  u16 index[kPageSize / 2] = {};
  const Op* part[2] = {nullptr, nullptr};
  /// The guest bytes (host address), valid as long as the page is neither moved nor freed.
  const u8* bytes = nullptr;
  std::shared_ptr<const void> hold;        // of a shared page: what keeps the bytes as they are
  std::shared_ptr<const CodeArena> arena;  // of a shared page: where its blocks were translated to
  std::vector<WaitingJump> waiting_jumps;
  std::vector<Op> own;                    // storage of part 1, or of part 0 of a shared page
  std::vector<std::vector<Op>> outgrown;  // former storage: who knows a block may go on there
  u64 outgrown_slots = 0;                 // its capacity
  std::shared_ptr<const CodePage> base;   // owner of part 0

  /// How often a private page was found being interpreted; see `Core::note_hot_page`.
  u32 samples = 0;
  bool untranslated = false;  // there are blocks whose translation was not tried

  /// Jumps of a private page are linked as they execute; a shared page is never changed.
  bool writable = true;

  bool owns(const Op* op) const { return writable && op >= own.data() && op < own.data() + own.size(); }
  const Op* at(u16 entry) const { return part[entry >> 15] + (entry & 0x7fff); }
  /// Appends a block; false if the page has no room for more blocks.
  bool add(unsigned offset, const Op* slots, unsigned count);
  /// Drops all blocks.
  void clear();
  /// A self-contained copy, all in part 0, that finds the same bytes at `place`, which `hold` keeps there
  /// (not null); null if both parts together exceed what an index entry can reach.
  std::shared_ptr<CodePage> flattened(const u8* place, std::shared_ptr<const void> hold) const;
  /// Of a flat page: leaves its blocks to the interpreter.
  void forget_translations();
  /// Bytes on the heap.
  u64 footprint() const { return sizeof(CodePage) + (own.capacity() + outgrown_slots) * sizeof(Op); }
};

/// Decoded pages owned by a golden, keyed by the host address where the golden has their bytes. Immutable
/// once built, so that many threads may read it at once.
class SharedBlocks {
 public:
  /// The page's blocks, or null.
  std::shared_ptr<const CodePage> find(const u8* bytes) const;
  SharedBlocks();
  /// `number`: of the physical page; `hold` (not null) keeps its bytes where they are, lest another page come
  /// to lie there and be taken for this one.
  void put(u64 number, const u8* bytes, std::shared_ptr<const void> hold,
           std::shared_ptr<const CodePage> page);
  /// Tells sets apart, also from former ones; never 0.
  u64 number() const { return number_; }
  /// The blocks of a physical page, or null.
  const CodePage* at_page(u64 number) const {
    const auto found = by_page_.find(number);
    return found == by_page_.end() ? nullptr : places_[found->second].code;
  }
  /// A page that this set knows, and where its bytes are as long as nobody wrote it.
  struct Place {
    u64 page;
    const u8* bytes;
    const CodePage* code;
    std::shared_ptr<const void> hold;
  };
  const std::vector<Place>& places() const { return places_; }
  /// Through which translated code is entered; null if there is none.
  const std::shared_ptr<const CodeArena>& entrance() const { return entrance_; }
  std::size_t pages() const { return pages_.size(); }
  const auto& all() const { return pages_; }

 private:
  std::unordered_map<const u8*, std::shared_ptr<const CodePage>> pages_;
  std::unordered_map<u64, std::size_t> by_page_;  // to its place
  std::vector<Place> places_;
  std::shared_ptr<const CodeArena> entrance_;
  u64 number_;
};

/// Where a golden's forks, and theirs in turn, take the blocks from that they share: what is decoded after a
/// fork was made serves the forks of that fork all the same. Any thread.
class SharedCode {
 public:
  /// The latest blocks, or null.
  std::shared_ptr<const SharedBlocks> get() const {
    const std::lock_guard lock(mutex_);
    return blocks_;
  }
  void set(std::shared_ptr<const SharedBlocks> blocks) {
    const std::lock_guard lock(mutex_);
    blocks_ = std::move(blocks);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const SharedBlocks> blocks_;
};

}  // namespace shinken
