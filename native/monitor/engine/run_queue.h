#pragma once
// Whose turn it is. Guarded by the engine.
//
// - What was cancelled is first: it has only to be told.
// - Grading requests come before ordinary ones, at most kGradeRun turns in a row while an ordinary one waits.
// - Within a priority, short requests (those of kShortTurns turns or fewer) come before long ones, at most
//   kShortRun in a row while a long one waits.
// - A long request that has a turn only because no short one was there gives it up when one comes, unless
//   kShortRun of them were before it since its last full turn.
#include <array>
#include <chrono>
#include <functional>
#include <list>
#include <memory>

#include "monitor/engine/engine.h"

namespace shinken {

struct Job {
  using Clock = std::chrono::steady_clock;
  enum class State : u8 { kQueued, kRunning, kWaiting };

  std::shared_ptr<Machine> machine;
  std::function<void(RunResult)> done;
  Priority priority = Priority::kOrdinary;
  State state = State::kQueued;
  unsigned turns = 0;
  bool woken = false;         // something came from outside since the last turn began
  bool yields = false;        // its present turn may be taken from it, once
  bool preempted = false;     // it was
  Clock::time_point since{};  // in the queue, or on a thread
  Clock::time_point wake_at{};
  Clock::duration waited{}, ran{};
};

using JobRef = std::shared_ptr<Job>;

class RunQueue {
 public:
  /// At the end of its class.
  void push(JobRef job);
  /// A request whose turn was taken from it: the next of its class.
  void push_first(JobRef job);
  /// Puts a queued job before all others.
  void hurry(const JobRef& job);
  /// Null if there is none.
  JobRef take();

  bool empty() const { return size() == 0; }
  u64 size() const { return urgent_.size() + size(Priority::kOrdinary) + size(Priority::kGrade); }
  /// Without those that were hurried.
  u64 size(Priority priority) const {
    const Class& of = classes_[static_cast<std::size_t>(priority)];
    return of.brief.size() + of.lengthy.size();
  }
  bool urgent() const { return !urgent_.empty(); }

 private:
  struct Class {
    std::list<JobRef> brief, lengthy;
    unsigned brief_in_a_row = 0;
    bool empty() const { return brief.empty() && lengthy.empty(); }
  };
  Class& class_of(const Job& job) { return classes_[static_cast<std::size_t>(job.priority)]; }
  std::list<JobRef>& list_of(const Job& job) {
    return job.turns <= kShortTurns ? class_of(job).brief : class_of(job).lengthy;
  }

  std::list<JobRef> urgent_;
  std::array<Class, kPriorities> classes_;
  unsigned grade_in_a_row_ = 0;
};

}  // namespace shinken
