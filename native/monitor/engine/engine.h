#pragma once
// The CPU threads of the process. One engine exists at a time, shared by all its users: the one allowed
// global.
#include <array>
#include <functional>
#include <memory>

#include "monitor/engine/time_histogram.h"
#include "monitor/machine/machine.h"

namespace shinken {

/// Instructions of one turn; small enough for fairness, large enough to hide the hand-over.
inline constexpr u64 kSliceInstructions = 5'000'000;
/// A request keeps its place among the short ones for this many turns.
inline constexpr unsigned kShortTurns = 4;
/// After this many turns of short requests in a row, a long one that waits gets a turn.
inline constexpr unsigned kShortRun = 3;
/// After this many turns of grading requests in a row, an ordinary one that waits gets a turn: at least a
/// quarter of the turns.
inline constexpr unsigned kGradeRun = 3;
/// Decoded code that machines may hold for themselves, all together, before those at rest let go of theirs.
inline constexpr u64 kDefaultCacheBudget = u64{256} << 20;

/// A grade fork's requests go first, so that verdicts do not queue behind episodes.
enum class Priority : u8 { kOrdinary, kGrade };
inline constexpr std::size_t kPriorities = 2;

struct PriorityStats {
  u64 queued;   // requests that wait for a thread
  u64 running;  // requests on a thread now
  // Of the requests that have ended, each over all its turns. Waiting is waiting for a thread, not for input.
  TimeHistogram waited, ran;
};

struct EngineStats {
  unsigned threads;
  u64 queued;          // requests that wait for a thread
  u64 running;         // requests on a thread now
  u64 waiting;         // realtime requests that wait for input or for their deadline
  u64 turns;           // given so far
  u64 preempted;       // of those, cut short for another request
  u64 code_bytes;      // decoded and translated code that machines hold for themselves
  u64 caches_dropped;  // machines at rest that had to let go of theirs
  std::array<PriorityStats, kPriorities> priorities;
};

class Engine {
 public:
  /// The process's engine; started if nobody holds it. `threads` 0: one per host CPU; ignored if it already
  /// runs. The threads are joined when the last holder lets go. Never let go of the last one from inside a
  /// callback.
  static std::shared_ptr<Engine> acquire(unsigned threads = 0);

  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Runs `request` on `machine` in turns; `done` is called once, on an engine thread, also after a cancel.
  /// The engine holds the machine until then. Throws kBusy or kClosed at once (then `done` is not called).
  /// Cancel with `machine->cancel()`: wherever the request is, it ends after at most kNoticeInstructions on a
  /// thread, and what runs elsewhere is asked to make room.
  virtual void submit(std::shared_ptr<Machine> machine, RunRequest request,
                      std::function<void(RunResult)> done) = 0;
  /// Runs `task` on an engine thread, before any machine's next turn.
  virtual void post(std::function<void()> task) = 0;
  virtual EngineStats stats() const = 0;

  /// Bounds the code that machines at rest hold; checked after every run. The longest parked let go first.
  virtual void set_cache_budget(u64 bytes) = 0;
  /// Makes all machines at rest let go of their code, and gives freed memory back to the host. On the
  /// caller's thread; milliseconds.
  virtual void drop_caches() = 0;

 protected:
  Engine() = default;
};

}  // namespace shinken
