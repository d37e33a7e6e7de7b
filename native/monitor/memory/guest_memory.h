#pragma once
// Guest RAM as a set of 4 KiB pages behind host pointers. One interface, two implementations: `SoftMemory`
// (a table of reference-counted host pages) and `MapMemory` (a private mapping).
#include <memory>

#include "monitor/base/types.h"

namespace shinken {

enum class MemoryKind : u8 {
  kSoft,  // a tree of host pages
  kMap,   // a flat private mapping, userfaultfd
};

/// Told when a page's bytes are about to change in a way that a cache of its content must notice.
class PageObserver {
 public:
  virtual ~PageObserver() = default;
  /// `page` is about to be handed out for writing, and either it is watched or it is no longer where it was
  /// (`moved`: a copy-on-write, in a flat memory only `shared_page`'s answer). Called before `page_for_write`
  /// returns; the observer drops every pointer into the page and every block or translation made from it. The
  /// watch is cleared by the caller after this returns.
  virtual void on_page_write(u64 page, bool moved) = 0;
};

/// RAM of one machine. Pages are numbered from 0 at `kRamBase`. Not thread-safe: one machine runs on one
/// thread at a time.
class GuestMemory {
 public:
  virtual ~GuestMemory() = default;

  u64 size() const { return pages_ << kPageShift; }
  u64 pages() const { return pages_; }
  /// True if [pa, pa+length) lies wholly in RAM; safe against overflow.
  bool contains(u64 pa, u64 length) const {
    return pa >= kRamBase && length <= size() && pa - kRamBase <= size() - length;
  }

  /// Host address of a page for reading. Valid until `page_for_write(page)` on this memory or its end.
  /// SAFETY: `page < pages()` is the caller's duty (use `contains`).
  virtual const u8* page_for_read(u64 page) = 0;
  /// Host address of a page that is private to this memory, copied first if it was shared. Marks it dirty.
  virtual u8* page_for_write(u64 page) = 0;
  /// Where a golden keeps this page's present bytes (immutable, shared by its descendants), or null if the
  /// page is this memory's own. That address is what the golden's decoded blocks go by; what
  /// `page_for_read` gives is the same in a soft memory, and the same bytes elsewhere in a flat one.
  virtual const u8* shared_page(u64 page) const = 0;
  bool is_shared(u64 page) const { return shared_page(page) != nullptr; }

  /// While the result lives, the bytes of this shared page neither change nor does their host address come to
  /// mean anything else. Null if it is not shared.
  virtual std::shared_ptr<const void> hold(u64 page) = 0;

  /// Ask that the next `page_for_write(page)` call the observer. Idempotent.
  virtual void watch(u64 page) = 0;
  void set_observer(PageObserver* observer) { observer_ = observer; }

 protected:
  explicit GuestMemory(u64 pages) : pages_(pages) {}
  u64 pages_;
  PageObserver* observer_ = nullptr;
};

}  // namespace shinken
