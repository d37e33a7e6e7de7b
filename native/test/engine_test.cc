#include "monitor/engine/engine.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <filesystem>
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
