#include "monitor/engine/engine.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "test/support/machines.h"

using namespace shinken;
using namespace shinken::test;

namespace {

/// Collects results in the order in which they come.
class Results {
 public:
  std::function<void(RunResult)> expect(int id) {
    return [this, id](RunResult result) {
      std::lock_guard lock(mutex_);
      order_.push_back(id);
      results_[id] = std::move(result);
      changed_.notify_all();
    };
  }
  std::vector<int> wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return order_.size() >= count; });
    return order_;
  }
  StopReason reason(int id) {
    std::lock_guard lock(mutex_);
    return results_.at(id).reason;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> order_;
  std::map<int, RunResult> results_;
};

std::size_t threads_now() {
  namespace fs = std::filesystem;
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/task"), {}));
}

std::shared_ptr<Machine> spinner(const TempDir& dir) {
  return start(dir, ScriptGuest().spin(~u64{0} >> 2).jump(0));
}

}  // namespace

TEST_CASE("one engine serves the process, and its threads end with its last user") {
  // A sanitizer may start a thread of its own with the first of ours.
  std::thread([] {}).join();
  const std::size_t before = threads_now();
  {
    auto a = Engine::acquire(2);
    auto b = Engine::acquire(7);
    CHECK(a == b);
    CHECK(a->stats().threads == 2);
    CHECK(threads_now() == before + 2);
  }
  // A joined thread may stand in /proc for a moment longer.
  for (int i = 0; i < 2000 && threads_now() != before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(threads_now() == before);
}

TEST_CASE("requests end with the same results as on the caller's thread") {
  TempDir dir;
  auto golden = start_echo(dir, 2)->freeze();
  auto direct = Machine::fork(golden, {ForkKind::kGrade, {}});
  direct->run(ask(1));
  auto engine = Engine::acquire(2);
  Results results;
  std::vector<std::shared_ptr<Machine>> machines;
  for (int i = 0; i < 50; ++i) {
    machines.push_back(Machine::fork(golden, {ForkKind::kGrade, {}}));
    engine->submit(machines.back(), ask(1), results.expect(i));
  }
  results.wait(50);
  for (int i = 0; i < 50; ++i) {
    CHECK(results.reason(i) == StopReason::kReply);
    CHECK(machines[static_cast<std::size_t>(i)]->digest() == direct->digest());
  }
}

TEST_CASE("a short request overtakes long ones on a single thread") {
  TempDir dir;
  auto engine = Engine::acquire(1);
  Results results;
  auto long_one = spinner(dir), other = spinner(dir);
  engine->submit(long_one, {}, results.expect(0));
  engine->submit(other, {}, results.expect(1));
  auto echo = start_echo(dir, 1);
  engine->submit(echo, ask(1), results.expect(2));
  CHECK(results.wait(1) == std::vector<int>{2});
  CHECK(results.reason(2) == StopReason::kReply);
  long_one->cancel();
  other->cancel();
  results.wait(3);
  CHECK(results.reason(0) == StopReason::kCancelled);
  CHECK(results.reason(1) == StopReason::kCancelled);
}

TEST_CASE("long requests share a thread in turns") {
  TempDir dir;
  auto engine = Engine::acquire(1);
  Results results;
  std::vector<std::shared_ptr<Machine>> machines;
  for (int i = 0; i < 3; ++i) {
    machines.push_back(start(dir, ScriptGuest().spin(kSliceInstructions * 4).shut_down()));
    engine->submit(machines.back(), {}, results.expect(i));
  }
  // Eight turns each: they end in the order in which they came, none far behind.
  CHECK(results.wait(3) == std::vector<int>{0, 1, 2});
}

TEST_CASE("a realtime request occupies no thread while it waits for a person") {
  TempDir dir;
  auto engine = Engine::acquire(1);
  Results results;
  auto waiting = start_echo(dir, 1);
  RunRequest request;
  request.realtime = true;
  request.await_stream = 5;
  engine->submit(waiting, std::move(request), results.expect(0));
  auto echo = start_echo(dir, 1);
  engine->submit(echo, ask(1), results.expect(1));
  CHECK(results.wait(1) == std::vector<int>{1});
  CHECK(waiting->post_input(Port::kAgent, echo_frame(5)));
  results.wait(2);
  CHECK(results.reason(0) == StopReason::kReply);
}

TEST_CASE("the last user's leave cancels what still runs or waits") {
  TempDir dir;
  Results results;
  auto engine = Engine::acquire(1);
  engine->submit(spinner(dir), {}, results.expect(0));
  RunRequest request;
  request.realtime = true;
  engine->submit(start_echo(dir, 1), std::move(request), results.expect(1));
  engine.reset();
  CHECK(results.wait(2).size() == 2);
  CHECK(results.reason(0) == StopReason::kCancelled);
  CHECK(results.reason(1) == StopReason::kCancelled);
}

TEST_CASE("a machine that runs takes no second request") {
  TempDir dir;
  auto engine = Engine::acquire(1);
  Results results;
  auto machine = spinner(dir);
  engine->submit(machine, {}, results.expect(0));
  CHECK_THROWS_AS(engine->submit(machine, {}, results.expect(1)), MonitorError);
  machine->cancel();
  CHECK(results.wait(1) == std::vector<int>{0});
}

TEST_CASE("posted tasks run on an engine thread") {
  auto engine = Engine::acquire(1);
  Results results;
  engine->post([&] { results.expect(0)({}); });
  results.wait(1);
}

namespace {

/// Keeps the only thread busy until it is let go, so that what is submitted meanwhile is chosen among at
/// once.
class Gate {
 public:
  explicit Gate(Engine& engine) {
    engine.post([this] {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return open_; });
    });
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

void wait_for_turns(const Engine& engine, u64 turns) {
  while (engine.stats().turns < turns) std::this_thread::yield();
}

std::shared_ptr<Machine> grade_fork(const std::shared_ptr<Golden>& golden) {
  return Machine::fork(golden, {ForkKind::kGrade, {}});
}

/// With one thread: everything that the last result brought about has been done.
void settle(Engine& engine) {
  // Shared: the task may still be setting it when this returns.
  const auto done = std::make_shared<std::promise<void>>();
  engine.post([done] { done->set_value(); });
  done->get_future().wait();
}

}  // namespace

TEST_CASE("what is cancelled in the queue has the very next turn, however many wait before it") {
  TempDir dir;
  auto engine = Engine::acquire(1);
  Results results;
  auto golden = spinner(dir)->freeze();
  std::vector<std::shared_ptr<Machine>> machines;
  u64 turns_at_cancel = 0, turns_at_end = 0;
  Gate gate(*engine);
  auto first = start_echo(dir, 1);
  engine->submit(first, ask(1), [&](RunResult result) {
    turns_at_cancel = engine->stats().turns;
    machines.back()->cancel();
    results.expect(-1)(std::move(result));
  });
  for (int i = 0; i < 30; ++i) {
    machines.push_back(Machine::fork(golden, {}));
    engine->submit(machines.back(), {}, [&, i](RunResult result) {
      if (i == 29) turns_at_end = engine->stats().turns;
      CHECK((i != 29 || result.run_instructions == 0));
      results.expect(i)(std::move(result));
    });
  }
  gate.open();
  CHECK(results.wait(2)[1] == 29);
  CHECK(turns_at_end == turns_at_cancel + 1);
  for (const auto& machine : machines) machine->cancel();
  results.wait(31);
}

TEST_CASE("a cancelled request that waits for a thread interrupts whoever has one") {
  TempDir dir;
  auto engine = Engine::acquire(1);
  Results results;
  auto golden = spinner(dir)->freeze();
  auto a = grade_fork(golden), b = grade_fork(golden);
  engine->submit(a, {}, results.expect(0));
  engine->submit(b, {}, results.expect(1));
  wait_for_turns(*engine, 2);
  // One of the two waits, at this moment or at any other.
  a->cancel();
  CHECK(results.wait(1) == std::vector<int>{0});
  wait_for_turns(*engine, engine->stats().turns + 1);  // the other's
  const u64 before = engine->stats().preempted;
  engine->submit(a, {}, results.expect(2));
  a->cancel();
  CHECK(results.wait(2)[1] == 2);
  CHECK(engine->stats().preempted > before);
  b->cancel();
  results.wait(3);
}

TEST_CASE("a short request takes the turn of a long one that has it for want of others") {
  TempDir dir;
  auto engine = Engine::acquire(1);
  Results results;
  auto long_one = spinner(dir);
  engine->submit(long_one, {}, results.expect(0));
  wait_for_turns(*engine, kShortTurns + 2);
  auto echo = start_echo(dir, 41);
  engine->submit(echo, ask(1), results.expect(1));
  CHECK(results.wait(1) == std::vector<int>{1});
  CHECK(engine->stats().preempted == 1);
  // But not for ever: after every kShortRun of them it has a turn that nobody takes.
  const u64 before = long_one->stats().instret;
  for (u32 i = 2; i <= 41; ++i) {
    engine->submit(echo, ask(i), results.expect(static_cast<int>(i)));
    results.wait(i);
  }
  CHECK(long_one->stats().instret - before >= 40 / (kShortRun + 1) * kSliceInstructions);
  long_one->cancel();
  results.wait(42);
  CHECK(results.reason(0) == StopReason::kCancelled);
}

TEST_CASE("grading requests come first, and leave every fourth turn to others") {
  TempDir dir;
  auto engine = Engine::acquire(1);
  Results results;
  auto golden = spinner(dir)->freeze();
  std::vector<std::shared_ptr<Machine>> graders;
  constexpr u64 kTurns = 9;
  u64 graded = 0;
  Gate gate(*engine);
  auto ordinary = start(dir, ScriptGuest().spin(kSliceInstructions / 2 * (kTurns - 1)).shut_down());
  engine->submit(ordinary, {}, [&](RunResult result) {
    for (const auto& grader : graders) graded += grader->stats().instret;
    results.expect(0)(std::move(result));
  });
  for (int i = 1; i <= 2; ++i) {
    graders.push_back(grade_fork(golden));
    engine->submit(graders.back(), {}, results.expect(i));
  }
  CHECK(engine->stats().priorities[1].queued == 2);
  gate.open();
  CHECK(results.wait(1) == std::vector<int>{0});
  CHECK(graded == kTurns * kGradeRun * kSliceInstructions);
  for (const auto& grader : graders) grader->cancel();
  results.wait(3);
}

TEST_CASE("the last user's leave ends a request that waits for a person") {
  TempDir dir;
  Results results;
  auto engine = Engine::acquire(1);
  RunRequest request;
  request.realtime = true;
  engine->submit(start_echo(dir, 1), std::move(request), results.expect(0));
  while (engine->stats().waiting == 0) std::this_thread::yield();
  engine.reset();
  results.wait(1);
  CHECK(results.reason(0) == StopReason::kCancelled);
}

TEST_CASE("every request is counted with the time that it waited and ran, by its priority") {
  TempDir dir;
  auto engine = Engine::acquire(1);
  Results results;
  auto golden = start_echo(dir, 1)->freeze();
  for (int i = 0; i < 5; ++i) {
    auto machine = Machine::fork(golden, {i < 2 ? ForkKind::kGrade : ForkKind::kReplica, {}});
    engine->submit(machine, ask(1), results.expect(i));
  }
  results.wait(5);
  const EngineStats stats = engine->stats();
  CHECK(stats.queued == 0);
  for (const auto& [priority, count] : {std::pair{Priority::kOrdinary, 3u}, {Priority::kGrade, 2u}}) {
    const PriorityStats& its = stats.priorities[static_cast<std::size_t>(priority)];
    for (const TimeHistogram& times : {its.waited, its.ran}) {
      CHECK(times.count == count);
      u64 sum = 0;
      for (const u64 in_class : times.counts) sum += in_class;
      CHECK(sum == count);
      CHECK(times.sum_ns > 0);
    }
  }
}

TEST_CASE("machines at rest let go of their code when all hold too much, the longest parked first") {
  TempDir dir;
  auto engine = Engine::acquire(1);
  Results results;
  auto golden = start_echo(dir, 2)->freeze();
  std::vector<std::shared_ptr<Machine>> machines;
  for (int i = 0; i < 3; ++i) machines.push_back(Machine::fork(golden, {ForkKind::kGrade, {}}));
  std::size_t runs = 0;
  const auto run = [&](int i, u32 stream) {
    engine->submit(machines[static_cast<std::size_t>(i)], ask(stream), results.expect(i));
    results.wait(++runs);
    settle(*engine);
  };
  run(0, 1), run(1, 1);
  const u64 each = machines[0]->cache_bytes();
  CHECK(each > 0);
  CHECK(engine->stats().code_bytes >= 2 * each);
  const u64 others = engine->stats().code_bytes - 2 * each;  // the golden's first machine
  engine->set_cache_budget(others + 3 * each - 1);
  run(2, 1);
  CHECK(machines[0]->cache_bytes() == 0);
  CHECK(machines[1]->cache_bytes() == each);
  CHECK(machines[2]->cache_bytes() == each);
  CHECK(engine->stats().caches_dropped == 1);
  engine->drop_caches();
  CHECK(machines[1]->cache_bytes() == 0);
  // It shows in nothing: who lost its code and who never did go on alike.
  auto untouched = Machine::fork(golden, {ForkKind::kGrade, {}});
  untouched->run(ask(1));
  untouched->run(ask(2));
  run(0, 2);
  CHECK(machines[0]->digest() == untouched->digest());
}

TEST_CASE("a machine in somebody's hands keeps its code") {
  TempDir dir;
  auto machine = start_echo(dir, 1);
  machine->begin(ask(1));
  CHECK_FALSE(machine->drop_caches());
  while (machine->slice(~u64{0}).state != SliceResult::State::kDone) continue;
  CHECK_FALSE(machine->drop_caches());
  machine->finish();
  CHECK(machine->drop_caches());
  machine->close();
  CHECK_FALSE(machine->drop_caches());
}
