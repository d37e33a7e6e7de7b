#include "monitor/snapshot/checkpoint_log.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "monitor/memory/flat_image.h"
#include "monitor/snapshot/golden_impl.h"

namespace shinken {
namespace {

/// Counters of the whole process, for metrics alone.
struct AllLogs {
  std::atomic<u64> kept{0}, held_bytes{0}, held_pages{0}, taken{0}, dropped{0};
};
AllLogs totals;

const MemoryImage* image_of(const std::shared_ptr<const Golden>& golden) {
  return golden == nullptr ? nullptr : golden->impl().image.get();
}

}  // namespace

CheckpointStats all_checkpoints() {
  return {totals.kept, totals.held_bytes, totals.held_pages, totals.taken, totals.dropped};
}

struct CheckpointLog::Entry {
  Checkpoint facts;
  std::shared_ptr<const Golden> golden;
  u64 own_bytes;            // beside guest memory
  const FlatImage* mapped;  // by the machine, when it was taken
  u64 held_bytes = 0, held_pages = 0;
  std::vector<std::weak_ptr<Machine>> forks = {};

  bool in_use() const {
    return std::any_of(forks.begin(), forks.end(), [](const auto& fork) { return !fork.expired(); });
  }
  /// Pages of a flat copy that forks brought about.
  u64 flat_pages() const {
    MemoryImage::FlatSlot& slot = golden->impl().image->flat_slot();
    const std::lock_guard lock(slot.mutex);
    return slot.flat && slot.flat.get() != mapped ? slot.flat->stored() : 0;
  }
};

CheckpointLog::CheckpointLog(std::shared_ptr<const Golden> base, u64 budget_bytes)
    : base_(std::move(base)), budget_(budget_bytes) {}

CheckpointLog::~CheckpointLog() {
  for (const auto& [step, entry] : entries_) let_go(*entry);
}

void CheckpointLog::let_go(Entry& entry) {
  stats_.held_bytes -= entry.held_bytes, stats_.held_pages -= entry.held_pages, --stats_.kept;
  totals.held_bytes -= entry.held_bytes, totals.held_pages -= entry.held_pages, --totals.kept;
}

/// Counts anew what an entry holds: what the next one has no longer, so that of several that share a page the
/// last one is charged, and the newest, which has what the machine has, for none.
void CheckpointLog::hold(Entries::const_iterator at) {
  Entry& entry = *at->second;
  ImageExtent extent;
  if (const auto next = std::next(at); next != entries_.end()) {
    extent = image_of(entry.golden)->beyond(image_of(next->second->golden), image_of(base_));
  }
  extent.pages += entry.flat_pages();
  let_go(entry);
  entry.held_pages = extent.pages;
  entry.held_bytes = entry.own_bytes + extent.bytes();
  stats_.held_bytes += entry.held_bytes, stats_.held_pages += entry.held_pages, ++stats_.kept;
  totals.held_bytes += entry.held_bytes, totals.held_pages += entry.held_pages, ++totals.kept;
}

Checkpoint CheckpointLog::take(Machine& machine, u64 step, u64 owner_bytes, std::vector<u64>* dropped) {
  std::shared_ptr<const Golden> since = base_;
  {
    const std::lock_guard lock(mutex_);
    const auto later = entries_.lower_bound(step);
    if (entries_.upper_bound(step) != entries_.end()) {
      throw MonitorError(ErrorKind::kInvalidConfig, "checkpoints are taken step after step");
    }
    if (later != entries_.begin()) since = std::prev(later)->second->golden;
  }
  u64 changed = 0;
  const std::shared_ptr<const Golden> golden = machine.checkpoint(since.get(), &changed);
  const Checkpoint facts{step, golden->instret(), golden->ticks(), golden->digest(), changed};
  const Golden::Impl& parts = golden->impl();
  const u64 own = owner_bytes + parts.state.size() + parts.image->root().size() * sizeof(Mid*);
  auto fresh = std::make_unique<Entry>(Entry{facts, golden, own, parts.image->flat_slot().flat.get()});

  std::vector<std::unique_ptr<Entry>> gone;  // outlives the lock: freeing pages takes time
  const std::lock_guard lock(mutex_);
  const auto at = entries_.try_emplace(step).first;
  if (at->second) {
    let_go(*at->second);
    gone.push_back(std::move(at->second));
  }
  at->second = std::move(fresh);
  ++stats_.taken, ++stats_.kept;
  ++totals.taken, ++totals.kept;
  if (at != entries_.begin()) hold(std::prev(at));
  hold(at);
  trim(gone, dropped);
  return facts;
}

/// Drops the oldest that no live fork was made of, until the rest fits.
void CheckpointLog::trim(std::vector<std::unique_ptr<Entry>>& gone, std::vector<u64>* dropped) {
  for (auto at = entries_.begin(); stats_.held_bytes > budget_ && std::next(at) != entries_.end();) {
    if (at->second->in_use()) {
      ++at;
      continue;
    }
    let_go(*at->second);
    ++stats_.dropped, ++totals.dropped;
    if (dropped != nullptr) dropped->push_back(at->first);
    gone.push_back(std::move(at->second));
    at = entries_.erase(at);
    // What it shared with the one before is that one's now.
    if (at != entries_.begin()) hold(std::prev(at));
  }
}

const CheckpointLog::Entry& CheckpointLog::entry(u64 step) const {
  const auto found = entries_.find(step);
  if (found != entries_.end()) return *found->second;
  // Runs of steps, so that a thousand of them are one line.
  std::string steps;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const u64 first = at->first;
    u64 last = first;
    for (++at; at != entries_.end() && at->first == last + 1; ++at) ++last;
    if (!steps.empty()) steps += ", ";
    steps += std::to_string(first);
    if (last > first) steps += " to " + std::to_string(last);
  }
  throw MonitorError(ErrorKind::kNoCheckpoint, "no checkpoint of step " + std::to_string(step) +
                                                   " is kept; kept: " + (steps.empty() ? "none" : steps));
}

std::shared_ptr<const Golden> CheckpointLog::find(u64 step) const {
  const std::lock_guard lock(mutex_);
  return entry(step).golden;
}

std::shared_ptr<Machine> CheckpointLog::fork(u64 step, const ForkOptions& options) {
  auto fork = Machine::fork(find(step), options);
  const std::lock_guard lock(mutex_);
  // If it was dropped meanwhile, the fork has what it needs.
  const auto found = entries_.find(step);
  if (found == entries_.end()) return fork;
  auto& forks = found->second->forks;
  std::erase_if(forks, [](const auto& other) { return other.expired(); });
  forks.push_back(fork);
  hold(found);
  return fork;
}

std::vector<Checkpoint> CheckpointLog::kept() const {
  const std::lock_guard lock(mutex_);
  std::vector<Checkpoint> all;
  for (const auto& [step, entry] : entries_) all.push_back(entry->facts);
  return all;
}

CheckpointStats CheckpointLog::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace shinken
