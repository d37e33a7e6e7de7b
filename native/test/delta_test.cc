// A machine's state in a file, as its difference from a golden.
#include "monitor/snapshot/delta.h"

#include <doctest/doctest.h>

#include "monitor/base/zstd.h"
#include "monitor/memory/page_pool.h"
#include "monitor/snapshot/checkpoint_log.h"
#include "monitor/snapshot/state_difference.h"
#include "test/support/golden_files.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u64 kWritten = 32;

/// A golden whose guest adds to its pages in turn for ever; some of them hold zeros.
std::shared_ptr<Golden> writer(const TempDir& dir) {
  ScriptGuest guest;
  for (u32 i = 0; i < kWritten; ++i) guest.add32(ScriptGuest::data(0x10000 + i * kPageSize), i);
  guest.jump(0);
  return start(dir, guest)->freeze();
}

void step(Machine& machine, u64 instructions) {
  RunRequest request;
  request.max_instructions = instructions;
  machine.run(std::move(request));
}

bool layouts(bool compress) {
  return !compress || zstd::available();
}

}  // namespace

TEST_ON_BOTH_MEMORIES("a state comes back to the bit, and goes on as its machine does, on either memory") {
  for (const bool compress : {false, true}) {
    if (!layouts(compress)) continue;
    TempDir dir;
    const auto golden = writer(dir);
    auto machine = Machine::fork(golden, kGrade);
    for (u64 number = 0; number < 5; ++number) {
      CAPTURE(number);
      step(*machine, 150 + 400 * number);
      const std::string path = dir.file("state");
      const DeltaFacts facts = save_delta(*machine->freeze(), *golden, path, {"step", compress});
      CHECK(facts.digest == machine->digest());
      CHECK(facts.bytes == std::filesystem::file_size(path));
      const auto state = load_delta(path, *golden);
      CHECK(state->digest() == machine->digest());
      CHECK(state->note() == "step");
      CHECK(state->instret() == machine->stats().instret);
      CHECK(compare_states(*state, *machine->freeze()).equal());
      for (const MemoryKind memory : {MemoryKind::kSoft, memory_under_test}) {
        ForkOptions options = kGrade;
        options.memory = memory;
        auto fork = Machine::fork(state, options), twin = Machine::fork(machine->freeze(), kGrade);
        CHECK(fork->digest() == machine->digest());
        step(*fork, 777);
        step(*twin, 777);
        CHECK(fork->digest() == twin->digest());
      }
    }
  }
}

TEST_ON_BOTH_MEMORIES("a delta holds the pages whose bytes differ, and each different body once") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  CHECK(save_delta(*machine->freeze(), *golden, dir.file("d"), {}).pages == 0);
  CHECK(load_delta(dir.file("d"), *golden)->digest() == golden->digest());
  // Zero is added to the first page: written, and the same.
  step(*machine, 200'000);
  const DeltaFacts facts = save_delta(*machine->freeze(), *golden, dir.file("d"), {"", false});
  CHECK(facts.pages == kWritten - 1);
  const auto header = golden_file::read_header(dir.read("d"), golden_file::FileKind::kDelta);
  CHECK(header.stored_pages == facts.pages);
  CHECK(header.bodies <= facts.pages);
  CHECK(header.stands_on == golden->digest());
}

TEST_ON_BOTH_MEMORIES("a page that is zeros again is zeros again, and takes no memory") {
  TempDir dir;
  ScriptGuest guest;
  const u64 first = ScriptGuest::data(0x10000), second = ScriptGuest::data(0x10000 + kPageSize);
  guest.store32(first, 7).store32(second, 7).spin(2000).store32(first, 0).store32(second, 0).wfi();
  auto machine = start(dir, guest);
  step(*machine, 1000);
  const auto golden = machine->freeze();
  auto emptied = Machine::fork(golden, kGrade);
  emptied->run({});
  const DeltaFacts facts = save_delta(*emptied->freeze(), *golden, dir.file("d"), {});
  CHECK(facts.pages >= 2);
  const u64 before = memory_stats().live_pages;
  const auto state = load_delta(dir.file("d"), *golden);
  CHECK(memory_stats().live_pages - before == facts.pages - 2);
  CHECK(state->digest() == emptied->digest());
  CHECK(Machine::fork(state, kGrade)->digest() == emptied->digest());
}

TEST_ON_BOTH_MEMORIES("checkpoints are written as their difference from the golden, whichever came before") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  CheckpointLog log(golden, ~u64{0});
  std::vector<Digest> digests;
  for (u64 number = 0; number < 6; ++number) {
    digests.push_back(log.take(*machine, number).digest);
    step(*machine, 100 + 90 * number);
  }
  for (const u64 number : {u64{4}, u64{0}, u64{2}}) {
    CHECK(save_delta(*log.find(number), *golden, dir.file("d"), {}).digest == digests[number]);
    CHECK(load_delta(dir.file("d"), *golden)->digest() == digests[number]);
  }
}

TEST_ON_BOTH_MEMORIES("a state stands on the golden of another load, and is refused by another golden") {
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  step(*machine, 3000);
  save_delta(*machine->freeze(), *golden, dir.file("d"), {});
  golden->save(dir.file("g"));
  const auto again = Golden::load(dir.file("g"), {});
  const auto state = load_delta(dir.file("d"), *again);
  CHECK(state->digest() == machine->digest());
  ForkOptions options = kGrade;
  options.memory = memory_under_test;
  auto fork = Machine::fork(state, options);
  CHECK(fork->digest() == machine->digest());
  step(*fork, 500);
  step(*machine, 500);
  CHECK(fork->digest() == machine->digest());
  // A delta of that fork stands on the first golden, too.
  save_delta(*fork->freeze(), *again, dir.file("e"), {});
  CHECK(load_delta(dir.file("e"), *golden)->digest() == machine->digest());
  CHECK(delta_refusal(dir.file("d"), *load_delta(dir.file("e"), *golden)) == ErrorKind::kDeltaGolden);
  CHECK(delta_refusal(dir.file("g"), *golden) == ErrorKind::kGoldenMagic);
  CHECK(refusal(dir.file("d")) == ErrorKind::kGoldenMagic);
}

TEST_ON_BOTH_MEMORIES(
    "what is opened shares the golden's pages, outlives it, and gives all of its own back") {
  const MemoryStats before = memory_stats();
  TempDir dir;
  {
    auto golden = writer(dir);
    auto machine = Machine::fork(golden, kGrade);
    step(*machine, 200'000);
    save_delta(*machine->freeze(), *golden, dir.file("d"), {});
    golden->save(dir.file("g"));
  }
  CHECK(memory_stats().live_pages == before.live_pages);
  auto golden = Golden::load(dir.file("g"), {});
  const u64 without = memory_stats().live_pages;
  auto state = load_delta(dir.file("d"), *golden);
  CHECK(memory_stats().live_pages - without == kWritten - 1);
  ForkOptions options = kGrade;
  options.memory = memory_under_test;
  std::vector<std::shared_ptr<Machine>> forks;
  for (int i = 0; i < 4; ++i) forks.push_back(Machine::fork(state, options));
  const Digest digest = state->digest();
  golden.reset();
  state.reset();
  for (auto& fork : forks) CHECK(fork->digest() == digest);
  forks.clear();
  const MemoryStats after = memory_stats();
  CHECK(after.live_pages == before.live_pages);
  CHECK(after.tables == before.tables);
  CHECK(after.file_pages == before.file_pages);
}

TEST_CASE("forks of an opened state map the golden's flat copy, and copy what differs") {
  if (!host_has_flat_memory()) return;
  memory_under_test = MemoryKind::kMap;
  TempDir dir;
  const auto golden = writer(dir);
  auto machine = Machine::fork(golden, kGrade);
  step(*machine, 1000);
  save_delta(*machine->freeze(), *golden, dir.file("d"), {});
  const auto state = load_delta(dir.file("d"), *golden);
  const u64 before = memory_stats().flat_pages;
  const auto fork = Machine::fork(state, kGrade);
  CHECK(memory_stats().flat_pages - before <= kWritten);
  CHECK(fork->digest() == machine->digest());
  memory_under_test = MemoryKind::kSoft;
}

TEST_CASE("a delta of another size of memory, or with a note too long, is not written") {
  TempDir dir;
  const auto golden = writer(dir);
  MachineConfig config;
  config.program = dir.file("guest.bin");
  config.memory_mib = 2 * kMinMemoryMiB;
  const auto larger = Machine::create(config)->freeze();
  const auto refused = [&](const Golden& state, const DeltaSave& options) {
    try {
      save_delta(state, *golden, dir.file("d"), options);
    } catch (const MonitorError& error) {
      return error.kind();
    }
    return ErrorKind::kClosed;
  };
  CHECK(refused(*larger, {}) == ErrorKind::kInvalidConfig);
  CHECK(refused(*golden, {std::string(65 * 1024, 'x')}) == ErrorKind::kInvalidConfig);
  CHECK(!std::filesystem::exists(dir.file("d")));
}
