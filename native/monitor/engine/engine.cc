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
    for (unsigned i = 0; i < threads; ++i) sleepers_.push_back(std::make_unique<Sleeper>());
    for (auto& sleeper : sleepers_) threads_.emplace_back([this, self = sleeper.get()] { work(*self); });
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
    {
      std::lock_guard lock(mutex_);
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
    job->machine->set_waker([engine = weak_from_this(), weak = std::weak_ptr<Job>(job)] {
      const auto self = engine.lock();
      const JobRef held = weak.lock();
      if (self && held) self->wake(held);
    });
    std::lock_guard lock(mutex_);
    const unsigned home = job->machine->home();
    short_.push_back(std::move(job));
    // Whoever answers a result at once finds the machine's own thread awake: it needs no help with one job.
    if (home != 0 && sleepers_[home - 1]->finishing && short_.size() == 1) return;
    rouse(home);
  }

  void post(std::function<void()> task) override {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    rouse();
  }

  EngineStats stats() const override {
    std::lock_guard lock(mutex_);
    return {static_cast<unsigned>(threads_.size()), short_.size() + long_.size(), running_.size(),
            waiting_.size()};
  }

 private:
  void wake(const JobRef& job) {
    std::lock_guard lock(mutex_);
    job->woken = true;
    const auto found = std::find(waiting_.begin(), waiting_.end(), job);
    if (found == waiting_.end()) return;
    waiting_.erase(found);
    short_.push_back(job);
    rouse(job->machine->home());
  }

  /// A thread that has nothing to do, and how to wake it. The one that fell asleep last is woken first,
  /// unless the machine ran on another one: the caches of a thread, ours and the host's, are worth most where
  /// they are warm.
  struct Sleeper {
    std::condition_variable awake;
    bool roused = false;
    bool finishing = false;  // hands over a result, and looks for work right after
  };

  /// With the lock held. `home`: number of the thread that is preferred, from 1; 0: any.
  void rouse(unsigned home = 0) {
    if (idle_.empty()) return;
    auto at = idle_.end() - 1;
    if (home != 0) {
      const auto found = std::find(idle_.begin(), idle_.end(), sleepers_[home - 1].get());
      if (found != idle_.end()) at = found;
    }
    Sleeper* sleeper = *at;
    idle_.erase(at);
    sleeper->roused = true;
    sleeper->awake.notify_one();
  }
  void rouse_all() {
    while (!idle_.empty()) rouse();
  }

  void sleep(Sleeper& self, std::unique_lock<std::mutex>& lock) {
    auto until = Clock::time_point::max();
    for (const JobRef& job : waiting_) until = std::min(until, job->wake_at);
    self.roused = false;
    idle_.push_back(&self);
    const auto roused = [&self] { return self.roused; };
    if (until == Clock::time_point::max()) {
      self.awake.wait(lock, roused);
    } else if (!self.awake.wait_until(lock, until, roused)) {
      idle_.erase(std::find(idle_.begin(), idle_.end(), &self));
    }
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
      if (JobRef job = take_job()) {
        job->machine->set_home(number);
        turn(self, job, lock);
        continue;
      }
      if (closing_ && drained()) return;
      sleep(self, lock);
    }
  }

  void turn(Sleeper& self, const JobRef& job, std::unique_lock<std::mutex>& lock) {
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
      self.finishing = true;
      lock.unlock();
      // Lets go of the machine before the callback, so that whoever is called may hold it alone or close it.
      machine.reset();
      std::exchange(job->done, nullptr)(std::move(result));
      lock.lock();
      self.finishing = false;
      if (closing_) rouse_all();
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
    rouse();
  }

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Sleeper>> sleepers_;
  std::vector<Sleeper*> idle_;
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
