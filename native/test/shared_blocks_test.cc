// Decoded blocks that a golden shares, used by many threads at once: while some decode, others read what was
// shared, write the pages it was made from, share anew, freeze, branch, and close goldens and machines.
#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

#include "monitor/cpu/code_page.h"
#include "monitor/engine/engine.h"
#include "monitor/machine/machine_impl.h"
#include "monitor/memory/page_pool.h"
#include "test/support/hostile.h"
#include "test/support/machines.h"
#include "test/support/patching.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr ForkOptions kGrade{ForkKind::kGrade, {}};
/// Instructions that the golden has behind it, and that a fork runs between two digests: few, since after
/// some thousand of them such a program only repeats itself.
constexpr u64 kBefore = 150, kStage = 1500;
constexpr unsigned kStages = 4, kThreads = 4, kChains = 8, kLives = 4;

u64 programs() {
  const char* text = std::getenv("SHINKEN_SHARED_BLOCKS_PROGRAMS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 8;
}

RunRequest for_instructions(u64 count) {
  RunRequest request;
  request.max_instructions = count;
  return request;
}

std::shared_ptr<Golden> golden_of(const TempDir& dir, const std::vector<u8>& program) {
  MachineConfig config;
  config.program = dir.write("program.bin", program);
  config.memory_mib = kMinMemoryMiB;
  config.memory = memory_under_test;
  auto machine = Machine::create(config);
  machine->run(for_instructions(kBefore));
  return machine->freeze();
}

/// The digest after each stage, of a fork that runs alone and shares nothing.
std::vector<Digest> alone(const std::shared_ptr<Golden>& golden) {
  auto fork = Machine::fork(golden, kGrade);
  std::vector<Digest> digests;
  for (unsigned stage = 0; stage < kStages; ++stage) {
    fork->run(for_instructions(kStage));
    digests.push_back(fork->digest());
  }
  return digests;
}

/// What all chains of one program have in common.
struct Shared {
  std::vector<Digest> expected;
  Engine* engine;
  std::atomic<u64> stages{0}, different{0}, lent{0};
  std::mutex mutex;
  std::condition_variable changed;
  unsigned chains = 0;

  void end_chain() {
    std::lock_guard lock(mutex);
    if (--chains == 0) changed.notify_all();
  }
};

/// One fork after the other, each run in uneven pieces on whichever thread is free; between pieces the chain
/// does what else a process does with machines. Lives until its last life is over.
class Chain : public std::enable_shared_from_this<Chain> {
 public:
  Chain(u64 seed, std::shared_ptr<Golden> golden, Shared* shared)
      : random_(seed), golden_(std::move(golden)), shared_(shared) {}

  /// Begins a life: a new fork of the golden.
  void begin() {
    machine_ = Machine::fork(golden_, kGrade);
    source_ = golden_;
    // The last life lets go of the golden at once, in some chains before others have forked it.
    if (++life_ == kLives) golden_.reset();
    stage_ = 0;
    left_ = kStage;
    go_on();
  }

 private:
  void go_on() {
    const u64 piece = std::min<u64>(left_, 1 + random_.below(random_.chance(30) ? 20 : 400));
    left_ -= piece;
    shared_->engine->submit(machine_, for_instructions(piece),
                            [self = shared_from_this()](RunResult) { self->after_piece(); });
  }

  void after_piece() {
    if (source_ && random_.chance(25)) {
      machine_->share_code_with(*source_);
      ++shared_->lent;
    }
    if (random_.chance(10)) branch();
    if (random_.chance(10)) source_.reset();
    if (left_ > 0) return go_on();
    ++shared_->stages;
    if (machine_->digest() != shared_->expected[stage_]) ++shared_->different;
    left_ = kStage;
    if (++stage_ < kStages) return go_on();
    if (random_.chance(50)) machine_->close();
    machine_.reset();
    source_.reset();
    if (golden_) return begin();
    shared_->end_chain();
  }

  /// The machine's place is taken by a fork of what it was frozen to, which it may have lent its blocks.
  void branch() {
    auto frozen = machine_->freeze();
    if (random_.chance(70)) machine_->share_code_with(*frozen);
    auto child = Machine::fork(frozen, kGrade);
    if (random_.chance(50)) machine_->close();
    machine_ = std::move(child);
    source_ = std::move(frozen);
  }

  Random random_;
  std::shared_ptr<Golden> golden_, source_;  // source_: what the present machine was forked from
  std::shared_ptr<Machine> machine_;
  Shared* shared_;
  unsigned life_ = 0, stage_ = 0;
  u64 left_ = 0;
};

/// Runs forks of the program's golden at once and compares each with one that ran alone.
void compare(const std::vector<u8>& program, u64 seed) {
  CAPTURE(seed);
  const MemoryStats before = memory_stats();
  TempDir dir;
  auto golden = golden_of(dir, program);
  auto engine = Engine::acquire(kThreads);
  Shared shared;
  shared.expected = alone(golden);
  shared.engine = engine.get();
  shared.chains = kChains;
  for (unsigned i = 0; i < kChains; ++i) {
    auto chain = std::make_shared<Chain>(seed * 100 + i, golden, &shared);
    engine->post([chain] { chain->begin(); });
  }
  golden.reset();
  std::unique_lock lock(shared.mutex);
  shared.changed.wait(lock, [&] { return shared.chains == 0; });
  lock.unlock();
  // Joins the threads, so that what the last callback held is gone, too.
  engine.reset();
  CHECK(shared.different.load() == 0);
  CHECK(shared.stages.load() == u64{kChains} * kLives * kStages);
  CHECK(shared.lent.load() > 0);
  CHECK(memory_stats().live_pages == before.live_pages);
  CHECK(memory_stats().tables == before.tables);
}

}  // namespace

TEST_ON_BOTH_MEMORIES("a fork leaves its golden no blocks of pages that it wrote") {
  TempDir dir;
  auto golden = golden_of(dir, patching_program(1));
  auto fork = Machine::fork(golden, kGrade);
  fork->run(for_instructions(kStage));
  // The address of such a page would mean another one as soon as the fork is gone.
  const auto& memory = *Machine::impl_of(*fork)->memory;
  const auto blocks = Machine::impl_of(*fork)->hart->share_blocks();
  REQUIRE(!blocks->places().empty());
  for (const SharedBlocks::Place& place : blocks->places()) {
    CHECK(place.bytes == memory.shared_page(place.page));
    CHECK(place.hold);
  }
  CHECK(blocks->places().size() < kPatchedPages);
}

TEST_ON_BOTH_MEMORIES("forks that patch their code at once end as one that runs alone") {
  for (u64 seed = 1; seed <= programs(); ++seed) compare(patching_program(seed), seed);
}

TEST_ON_BOTH_MEMORIES("forks that rewrite code and page tables at once end as one that runs alone") {
  for (u64 seed = 1; seed <= programs(); ++seed) {
    compare(HostileProgram(seed, kProgramOffset >> kPageShift).binary(), seed);
  }
}

TEST_ON_BOTH_MEMORIES("a stage patches many pages and leaves many as they were") {
  TempDir dir;
  auto fork = Machine::fork(golden_of(dir, patching_program(1)), kGrade);
  fork->run(for_instructions(kStage));
  const u64 written = fork->stats().private_bytes / kPageSize;
  CHECK(written > 8);  // the sums take no more
  CHECK(written < 8 + kPatchedPages);
}
