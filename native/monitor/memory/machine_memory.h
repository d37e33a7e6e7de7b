#pragma once
// What a machine asks of its memory beside what its hart and devices do: to be frozen, forked and digested.
// Both kinds freeze to the same MemoryImage, so that a golden serves forks of either kind.
#include <functional>
#include <memory>

#include "monitor/memory/guest_memory.h"
#include "monitor/memory/memory_image.h"

namespace shinken {

/// How often each path of `MapMemory` was taken; zeros for `SoftMemory`.
struct PathCounters {
  u64 scanned_pages = 0;     // dirty set: pages that a scan found written
  u64 cold_faults = 0;       // cold golden: faults that the handler served
  u64 prefetched_pages = 0;  // cold golden: pages filled before anybody asked
  u64 live_faults = 0;       // live snapshot: writes that waited until the page was copied
};

/// The sum of all memories of the process, those that are gone included.
PathCounters all_paths();
void count_prefetched();

/// A snapshot of the moment at which it was begun, being taken while its memory goes on. The memory has to
/// outlive `finish`, or the end of this object.
class LiveFreeze {
 public:
  virtual ~LiveFreeze() = default;
  /// The content of that moment; from any thread, once. Throws kNoMemory.
  virtual std::shared_ptr<const MemoryImage> finish() = 0;
};

class MachineMemory : public GuestMemory {
 public:
  /// The present content, immutable. This memory goes on as its child: every pointer that `page_for_write`
  /// gave is void, and the owner has to drop those that it keeps (the hart's translations).
  virtual std::shared_ptr<const MemoryImage> freeze() = 0;
  /// True if a freeze shares what there is instead of copying it: microseconds, whatever was written.
  virtual bool freezes_at_once() const { return false; }
  /// As `freeze`, for a chain of images few of which are ever forked: costs the pages written since the last
  /// freeze or checkpoint, however many this memory has.
  virtual std::shared_ptr<const MemoryImage> checkpoint() { return freeze(); }
  /// Begins a snapshot that is finished elsewhere; one at a time. True in `voids`: as after `freeze`,
  /// pointers for writing are void.
  virtual std::unique_ptr<LiveFreeze> begin_live(bool* voids) = 0;
  /// True until the snapshot is finished.
  virtual bool live() const { return false; }
  /// Multiset hash of the content, equal to that of `freeze()`. Costs a hash of the pages written since the
  /// last call, and of some that could have been.
  virtual Digest sum() = 0;
  /// True if the last `sum` voided pointers for writing, as `freeze` does.
  virtual bool sum_voided() const { return false; }
  /// Pages that `sum` hashed so far.
  virtual u64 hashed_pages() const = 0;
  /// Pages handed out for writing since the start, fork or last freeze.
  virtual u64 dirty_pages() const = 0;
  virtual void for_each_dirty(const std::function<void(u64 page)>& visit) const = 0;
  virtual PathCounters paths() const { return {}; }

 protected:
  using GuestMemory::GuestMemory;
};

/// All zeros. Throws MonitorError kNoMemory, kHostUnsupported (kMap where the host forbids userfaultfd).
std::unique_ptr<MachineMemory> make_memory(MemoryKind kind, u64 pages);
/// A copy-on-write child. Throws as above.
std::unique_ptr<MachineMemory> fork_memory(MemoryKind kind, const std::shared_ptr<const MemoryImage>& image);

}  // namespace shinken
