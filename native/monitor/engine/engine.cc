#include "monitor/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace shinken {
namespace {

using Clock = std::chrono::steady_clock;

/// After this many turns of short requests in a row, a long one gets a turn.
constexpr unsigned kShortRun = 3;

struct Job {
  std::shared_ptr<Machine> machine;
  std::function<void(RunResult)> done;
  unsigned turns = 0;
  bool woken = false;  // something came from outside since the last turn began
  Clock::time_point wake_at{};
};

using JobRef = std::shared_ptr<Job>;

/// A realtime job sits in `waiting_` with no thread of its own; `wake` or its deadline puts it back into the
/// queue.
class ThreadedEngine final : public Engine, public std::enable_shared_from_this<ThreadedEngine> {
 public:
  explicit ThreadedEngine(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }

  ~ThreadedEngine() override {
    std::vector<std::shared_ptr<Machine>> machines;
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
      for (const auto* jobs : {&short_, &long_, &running_, &waiting_}) {
        for (const JobRef& job : *jobs) machines.push_back(job->machine);
      }
    }
    // Outside the lock: a cancel calls `wake`, which takes it.
    for (const auto& machine : machines) {
      if (machine) machine->cancel();
    }
    machines.clear();
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void submit(std::shared_ptr<Machine> machine, RunRequest request,
              std::function<void(RunResult)> done) override {
    machine->begin(std::move(request));
    auto job = std::make_shared<Job>();
    job->machine = std::move(machine);
    job->done = std::move(done);
    job->machine->set_waker([engine = weak_from_this(), weak = std::weak_ptr<Job>(job)] {
      const auto self = engine.lock();
      const JobRef held = weak.lock();
      if (self && held) self->wake(held);
    });
    {
      std::lock_guard lock(mutex_);
      short_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

  void post(std::function<void()> task) override {
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

  EngineStats stats() const override {
    std::lock_guard lock(mutex_);
    return {static_cast<unsigned>(threads_.size()), short_.size() + long_.size(), running_.size(),
            waiting_.size()};
  }

 private:
  void wake(const JobRef& job) {
    {
      std::lock_guard lock(mutex_);
      job->woken = true;
      const auto found = std::find(waiting_.begin(), waiting_.end(), job);
      if (found == waiting_.end()) return;
      waiting_.erase(found);
      short_.push_back(job);
    }
    changed_.notify_one();
  }

  /// Moves realtime jobs whose deadline has come into the queue. True if one was.
  bool collect_due() {
    const auto now = Clock::now();
    bool any = false;
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if ((*at)->wake_at > now) {
        ++at;
        continue;
      }
      short_.push_back(*at);
      at = waiting_.erase(at);
      any = true;
    }
    return any;
  }

  JobRef take_job() {
    const bool long_turn = !long_.empty() && (short_.empty() || short_in_a_row_ >= kShortRun);
    std::list<JobRef>& queue = long_turn ? long_ : short_;
    if (queue.empty()) return nullptr;
    short_in_a_row_ = long_turn ? 0 : short_in_a_row_ + 1;
    JobRef job = std::move(queue.front());
    queue.pop_front();
    return job;
  }

  bool drained() const {
    return short_.empty() && long_.empty() && waiting_.empty() && running_.empty() && tasks_.empty();
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      collect_due();
      if (!tasks_.empty()) {
        auto task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
        task = nullptr;
        lock.lock();
        continue;
      }
      if (JobRef job = take_job()) {
        turn(job, lock);
        continue;
      }
      if (closing_ && drained()) return;
      auto until = Clock::time_point::max();
      for (const JobRef& job : waiting_) until = std::min(until, job->wake_at);
      if (until == Clock::time_point::max()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, until);
      }
    }
  }

  void turn(const JobRef& job, std::unique_lock<std::mutex>& lock) {
    job->woken = false;
    const auto at = running_.insert(running_.end(), job);
    lock.unlock();
    const SliceResult slice = job->machine->slice(kSliceInstructions);
    if (slice.state == SliceResult::State::kDone) {
      job->machine->set_waker(nullptr);
      RunResult result = job->machine->finish();
      lock.lock();
      running_.erase(at);
      std::shared_ptr<Machine> machine = std::move(job->machine);
      lock.unlock();
      // Lets go of the machine before the callback, so that whoever is called may hold it alone or close it.
      machine.reset();
      std::exchange(job->done, nullptr)(std::move(result));
      lock.lock();
      if (closing_) changed_.notify_all();
      return;
    }
    lock.lock();
    running_.erase(at);
    if (slice.state == SliceResult::State::kRunnable || job->woken) {
      (++job->turns <= kShortTurns ? short_ : long_).push_back(job);
      return;
    }
    constexpr u64 kLongest =
        u64{3600} * 1'000'000'000;  // looked at again after an hour, for want of infinity
    job->wake_at = Clock::now() + std::chrono::nanoseconds(std::min(slice.wait_ns, kLongest));
    waiting_.push_back(job);
    // Somebody who already sleeps may have a later moment in mind.
    changed_.notify_one();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  // Lists, so that a job moves without invalidating another's place.
  std::list<JobRef> short_, long_, running_, waiting_;
  unsigned short_in_a_row_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::shared_ptr<Engine> Engine::acquire(unsigned threads) {
  static std::mutex mutex;
  static std::weak_ptr<Engine> present;
  std::lock_guard lock(mutex);
  if (auto engine = present.lock()) return engine;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  auto engine = std::make_shared<ThreadedEngine>(threads);
  present = engine;
  return engine;
}

}  // namespace shinken
