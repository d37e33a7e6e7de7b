#include "monitor/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "monitor/base/heap.h"
#include "monitor/cpu/code_bytes.h"
#include "monitor/engine/parked_caches.h"
#include "monitor/engine/run_queue.h"

namespace shinken {
namespace {

using Clock = Job::Clock;

/// A realtime job sits in `waiting_` with no thread of its own; `wake` or its deadline puts it back into the
/// queue.
class ThreadedEngine final : public Engine, public std::enable_shared_from_this<ThreadedEngine> {
 public:
  explicit ThreadedEngine(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) sleepers_.push_back(std::make_unique<Sleeper>());
    for (auto& sleeper : sleepers_) threads_.emplace_back([this, self = sleeper.get()] { work(*self); });
  }

  ~ThreadedEngine() override {
    std::vector<std::shared_ptr<Machine>> machines;
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
      for (const JobRef& job : present_) machines.push_back(job->machine);
    }
    // Outside the lock: a cancel calls `wake`, which takes it.
    for (const auto& machine : machines) {
      if (machine) machine->cancel();
    }
    machines.clear();
    {
      std::lock_guard lock(mutex_);
      // Nobody can wake them by way of this object any more.
      for (auto& [when, job] : std::exchange(waiting_, {})) queue_.push(job);
      rouse_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  void submit(std::shared_ptr<Machine> machine, RunRequest request,
              std::function<void(RunResult)> done) override {
    machine->begin(std::move(request));
    auto job = std::make_shared<Job>();
    job->machine = std::move(machine);
    job->done = std::move(done);
    job->priority = job->machine->grading() ? Priority::kGrade : Priority::kOrdinary;
    job->machine->set_waker([engine = weak_from_this(), weak = std::weak_ptr<Job>(job)] {
      const auto self = engine.lock();
      const JobRef held = weak.lock();
      if (self && held) self->wake(held);
    });
    std::lock_guard lock(mutex_);
    present_.insert(job);
    parked_.leave(job->machine.get());
    const unsigned home = job->machine->home();
    queue_.push(job);
    // Whoever answers a result at once finds the machine's own thread awake: it needs no help with one job.
    if (home != 0 && sleepers_[home - 1]->finishing && queue_.size() == 1) return;
    if (!rouse(home))
      make_room([&job](const Job& other) { return other.yields && other.priority <= job->priority; });
  }

  void post(std::function<void()> task) override {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (!rouse()) make_room([](const Job& other) { return other.yields; });
  }

  EngineStats stats() const override {
    std::lock_guard lock(mutex_);
    EngineStats result = counts_;
    result.threads = static_cast<unsigned>(threads_.size());
    result.queued = queue_.size();
    result.running = running_.size();
    result.waiting = waiting_.size();
    result.code_bytes = CodeBytes::total();
    for (std::size_t i = 0; i < kPriorities; ++i) {
      result.priorities[i].queued = queue_.size(static_cast<Priority>(i));
    }
    for (const JobRef& job : running_) ++result.priorities[static_cast<std::size_t>(job->priority)].running;
    return result;
  }

  void set_cache_budget(u64 bytes) override {
    std::lock_guard lock(mutex_);
    cache_budget_ = bytes;
  }

  void drop_caches() override {
    std::unique_lock lock(mutex_);
    let_go(~u64{0}, lock);
    lock.unlock();
    return_heap();
  }

 private:
  void wake(const JobRef& job) {
    std::lock_guard lock(mutex_);
    job->woken = true;
    if (!job->machine) return;  // its result is on its way
    const bool cancelled = job->machine->cancelled();
    if (job->state == Job::State::kWaiting) {
      const auto [first, last] = waiting_.equal_range(job->wake_at);
      waiting_.erase(std::find_if(first, last, [&](const auto& entry) { return entry.second == job; }));
      queue_.push(job);
    } else if (job->state == Job::State::kQueued && cancelled) {
      queue_.hurry(job);
    } else {
      return;
    }
    if (!rouse(job->machine->home()) && cancelled) make_room([](const Job&) { return true; });
  }

  /// With the lock held: asks one running request to end its turn early, if `may` is true of one.
  template <class May>
  void make_room(May may) {
    for (const JobRef& job : running_) {
      if (job->preempted || !may(*job)) continue;
      job->preempted = true;
      job->machine->yield();
      return;
    }
  }

  /// A thread that has nothing to do, and how to wake it. The one that fell asleep last is woken first,
  /// unless the machine ran on another one: the caches of a thread, ours and the host's, are worth most where
  /// they are warm.
  struct Sleeper {
    std::condition_variable awake;
    bool roused = false;
    bool finishing = false;  // hands over a result, and looks for work right after
  };

  /// With the lock held. `home`: number of the thread that is preferred, from 1; 0: any. False: all are
  /// awake.
  bool rouse(unsigned home = 0) {
    if (idle_.empty()) return false;
    auto at = idle_.end() - 1;
    if (home != 0) {
      const auto found = std::find(idle_.begin(), idle_.end(), sleepers_[home - 1].get());
      if (found != idle_.end()) at = found;
    }
    Sleeper* sleeper = *at;
    idle_.erase(at);
    sleeper->roused = true;
    sleeper->awake.notify_one();
    return true;
  }
  void rouse_all() {
    while (rouse()) continue;
  }

  void sleep(Sleeper& self, std::unique_lock<std::mutex>& lock) {
    self.roused = false;
    idle_.push_back(&self);
    const auto roused = [&self] { return self.roused; };
    if (waiting_.empty()) {
      self.awake.wait(lock, roused);
      return;
    }
    // A copy: `wait_until` looks at it again, when the entry may be gone.
    const Clock::time_point until = waiting_.begin()->first;
    if (!self.awake.wait_until(lock, until, roused)) {
      idle_.erase(std::find(idle_.begin(), idle_.end(), &self));
    }
  }

  /// Moves realtime jobs whose deadline has come into the queue.
  void collect_due() {
    if (waiting_.empty()) return;
    const auto now = Clock::now();
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
      queue_.push(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
  }

  bool drained() const { return present_.empty() && tasks_.empty(); }

  void work(Sleeper& self) {
    std::unique_lock lock(mutex_);
    const auto number = static_cast<unsigned>(
        std::find_if(sleepers_.begin(), sleepers_.end(), [&](auto& other) { return other.get() == &self; }) -
        sleepers_.begin() + 1);
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
      if (JobRef job = queue_.take()) {
        job->machine->set_home(number);
        turn(self, job, lock);
        continue;
      }
      if (closing_ && drained()) return;
      if (heap_is_worth_returning()) {
        lock.unlock();
        return_heap();
        lock.lock();
        continue;
      }
      sleep(self, lock);
    }
  }

  void turn(Sleeper& self, const JobRef& job, std::unique_lock<std::mutex>& lock) {
    const auto began = Clock::now();
    job->waited += began - job->since;
    job->woken = job->preempted = false;
    job->state = Job::State::kRunning;
    ++counts_.turns;
    const auto at = running_.insert(running_.end(), job);
    lock.unlock();
    const SliceResult slice = job->machine->slice(kSliceInstructions);
    job->ran += Clock::now() - began;
    if (slice.state == SliceResult::State::kDone) {
      finish(self, at, lock);
      return;
    }
    lock.lock();
    running_.erase(at);
    if (job->preempted) {
      ++counts_.preempted;
    } else {
      ++job->turns;
    }
    if (slice.state == SliceResult::State::kRunnable || job->woken) {
      if (job->preempted) {
        queue_.push_first(job);
      } else {
        queue_.push(job);
      }
      return;
    }
    constexpr u64 kLongest =
        u64{3600} * 1'000'000'000;  // looked at again after an hour, for want of infinity
    job->state = Job::State::kWaiting;
    job->wake_at = Clock::now() + std::chrono::nanoseconds(std::min(slice.wait_ns, kLongest));
    if (closing_) {
      queue_.push(job);
      return;
    }
    waiting_.emplace(job->wake_at, job);
    // Somebody who already sleeps may have a later moment in mind.
    rouse();
  }

  /// Hands the result over and lets go of the machine.
  void finish(Sleeper& self, std::list<JobRef>::iterator at, std::unique_lock<std::mutex>& lock) {
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): outlives its place in the list.
    const JobRef job = *at;
    job->machine->set_waker(nullptr);
    const u64 cached = job->machine->cache_bytes();
    RunResult result = job->machine->finish();
    lock.lock();
    running_.erase(at);
    auto& counts = counts_.priorities[static_cast<std::size_t>(job->priority)];
    counts.waited.add(job->waited);
    counts.ran.add(job->ran);
    std::shared_ptr<Machine> machine = std::move(job->machine);
    parked_.park(machine, cached);
    self.finishing = true;
    lock.unlock();
    // Lets go of the machine before the callback, so that whoever is called may hold it alone or close it.
    machine.reset();
    std::exchange(job->done, nullptr)(std::move(result));
    lock.lock();
    self.finishing = false;
    present_.erase(job);
    if (closing_) rouse_all();
    const u64 held = CodeBytes::total();
    if (held > cache_budget_) let_go(held - cache_budget_, lock);
  }

  /// Machines at rest drop `bytes` of code, outside the lock.
  void let_go(u64 bytes, std::unique_lock<std::mutex>& lock) {
    auto machines = parked_.take(bytes);
    if (machines.empty()) return;
    lock.unlock();
    u64 dropped = 0;
    for (auto& machine : machines) {
      dropped += machine->drop_caches() ? 1 : 0;
      machine.reset();
    }
    lock.lock();
    counts_.caches_dropped += dropped;
  }

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Sleeper>> sleepers_;
  std::vector<Sleeper*> idle_;
  std::deque<std::function<void()>> tasks_;
  RunQueue queue_;
  std::unordered_set<JobRef> present_;  // wherever they are
  std::list<JobRef> running_;
  std::multimap<Clock::time_point, JobRef> waiting_;
  ParkedCaches parked_;
  EngineStats counts_{};  // what has no other place
  u64 cache_budget_ = kDefaultCacheBudget;
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
