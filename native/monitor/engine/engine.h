#pragma once
// The CPU threads of the process. One engine exists at a time, shared by all its users: the one allowed
// global.
#include <functional>
#include <memory>

#include "monitor/machine/machine.h"

namespace shinken {

/// Instructions of one turn; small enough for fairness, large enough to hide the hand-over.
inline constexpr u64 kSliceInstructions = 5'000'000;
/// A request keeps its place among the short ones for this many turns.
inline constexpr unsigned kShortTurns = 4;

struct EngineStats {
  unsigned threads;
  u64 queued;   // requests that wait for a thread
  u64 running;  // requests on a thread now
  u64 waiting;  // realtime requests that wait for input or for their deadline
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
  /// Cancel with `machine->cancel()`.
  virtual void submit(std::shared_ptr<Machine> machine, RunRequest request,
                      std::function<void(RunResult)> done) = 0;
  /// Runs `task` on an engine thread, before any machine's next turn.
  virtual void post(std::function<void()> task) = 0;
  virtual EngineStats stats() const = 0;

 protected:
  Engine() = default;
};

}  // namespace shinken
