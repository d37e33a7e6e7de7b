#pragma once
// The checkpoints of one machine: its state after each step, kept within a budget of bytes.
//
//   CheckpointLog log(golden, {});         // the golden that the machine was forked from
//   log.take(*machine, 0);                 // at rest; again after each step
//   auto branch = log.fork(17, options);   // the machine as it was after step 17
//
// A checkpoint shares with its neighbours and its golden every page that no step in between has written.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "monitor/machine/machine.h"
#include "monitor/memory/memory_image.h"

namespace shinken {

inline constexpr u64 kDefaultCheckpointBudget = u64{64} << 20;

struct Checkpoint {
  u64 step;
  u64 instret, ticks;
  Digest digest;
  u64 delta_pages;  // that hold other bytes than in the checkpoint before it (in the golden, for the first)
};

struct CheckpointStats {
  u64 kept = 0;
  u64 held_bytes = 0;
  u64 held_pages = 0;  // of guests, that the bytes are mostly made of
  u64 taken = 0;
  u64 dropped = 0;  // for want of budget
};
/// All logs of the process; those that are gone in `taken` and `dropped` only.
CheckpointStats all_checkpoints();

/// Every method from any thread, but one `take` at a time.
class CheckpointLog {
 public:
  /// `base`: what the machine was forked from; null, if it was not. It is held.
  explicit CheckpointLog(std::shared_ptr<const Golden> base, u64 budget_bytes = kDefaultCheckpointBudget);
  ~CheckpointLog();
  CheckpointLog(const CheckpointLog&) = delete;
  CheckpointLog& operator=(const CheckpointLog&) = delete;

  /// Keeps the machine's present state as that after `step`, in place of the newest if that is of the same
  /// step (which was done again), and drops the oldest checkpoints that the budget has no room for.
  /// `owner_bytes`: what its owner keeps with it, which counts.
  /// `dropped`: their steps are appended. Throws as `Machine::checkpoint`, kInvalidConfig for an older step.
  Checkpoint take(Machine& machine, u64 step, u64 owner_bytes = 0, std::vector<u64>* dropped = nullptr);
  /// The frozen machine. Throws kNoCheckpoint, and names the steps that are kept.
  std::shared_ptr<const Golden> find(u64 step) const;
  /// Throws as `find` and as `Machine::fork`. As long as the fork lives, its checkpoint is not dropped.
  std::shared_ptr<Machine> fork(u64 step, const ForkOptions& options);

  std::vector<Checkpoint> kept() const;
  /// Its `held_bytes` are what it keeps alive beside its golden and the machine as of the newest checkpoint:
  /// pages, their tables, states of devices, and what the owners said. The newest is kept whatever it needs.
  CheckpointStats stats() const;
  u64 budget() const { return budget_; }
  const std::shared_ptr<const Golden>& base() const { return base_; }

 private:
  struct Entry;
  using Entries = std::map<u64, std::unique_ptr<Entry>>;
  const Entry& entry(u64 step) const;
  void hold(Entries::const_iterator at);
  void let_go(Entry& entry);
  void trim(std::vector<std::unique_ptr<Entry>>& gone, std::vector<u64>* dropped);

  const std::shared_ptr<const Golden> base_;
  const u64 budget_;
  mutable std::mutex mutex_;  // guards what follows
  Entries entries_;           // by step
  CheckpointStats stats_;
};

}  // namespace shinken
