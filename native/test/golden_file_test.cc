#include "monitor/snapshot/golden_file.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/base/zstd.h"
#include "monitor/machine/machine_impl.h"
#include "monitor/memory/page_pool.h"
#include "monitor/snapshot/golden_reader.h"
#include "test/support/golden_files.h"

using namespace shinken;
using namespace shinken::test;

namespace {

/// Both layouts, where this host has what the second one needs.
std::vector<GoldenLayout> layouts() {
  if (zstd::available()) return {GoldenLayout::kMapped, GoldenLayout::kCompressed};
  MESSAGE("no libzstd on this host: compressed goldens are not tested");
  return {GoldenLayout::kMapped};
}

}  // namespace

TEST_CASE("a golden comes back from its file with digest, note and behaviour") {
  for (GoldenLayout layout : layouts()) {
    SavedGolden saved(layout);
    for (GoldenCheck check : {GoldenCheck::kFull, GoldenCheck::kIndex}) {
      auto loaded = Golden::load(saved.path, {{}, check});
      CHECK(loaded->digest() == saved.golden->digest());
      CHECK(loaded->note() == "a note");
      CHECK(loaded->instret() == saved.golden->instret());
      CHECK(loaded->ticks() == saved.golden->ticks());
      CHECK(loaded->memory_bytes() == kMinMemoryMiB << 20);
      auto from_file = Machine::fork(loaded, kGrade), from_memory = Machine::fork(saved.golden, kGrade);
      CHECK(from_file->digest() == saved.golden->digest());
      CHECK(from_file->run(ask(2, 9)).reason == StopReason::kReply);
      from_memory->run(ask(2, 9));
      CHECK(from_file->digest() == from_memory->digest());
    }
  }
}

TEST_CASE("saving twice gives the same bytes, and so does saving what was loaded") {
  for (GoldenLayout layout : layouts()) {
    SavedGolden saved(layout);
    saved.golden->save(saved.dir.file("h"), "a note", layout);
    CHECK(saved.dir.read("h") == saved.bytes);
    Golden::load(saved.path, {})->save(saved.dir.file("i"), "a note", layout);
    CHECK(saved.dir.read("i") == saved.bytes);
    Golden::load(saved.path, {})->save(saved.path, "another", layout);
    CHECK(Golden::load(saved.path, {})->note() == "another");
  }
}

TEST_CASE("another process loads the same state") {
  SavedGolden saved;
  auto fork_here = Machine::fork(saved.golden, kGrade);
  fork_here->run(ask(2, 8));
  const Digest expected = fork_here->digest();
  const pid_t child = ::fork();
  if (child == 0) {
    auto machine = Machine::fork(Golden::load(saved.path, {}), kGrade);
    machine->run(ask(2, 8));
    _exit(machine->digest() == expected ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("forks outlive the golden that was loaded, and then give everything back") {
  for (GoldenLayout layout : layouts()) {
    SavedGolden saved(layout);
    const MemoryStats before = memory_stats();
    auto fork = Machine::fork(Golden::load(saved.path, {{}, GoldenCheck::kIndex}), kGrade);
    unlink(saved.path.c_str());
    CHECK(fork->run(ask(2)).reason == StopReason::kReply);
    CHECK(fork->run(ask(3)).reason == StopReason::kReply);
    fork.reset();
    CHECK(memory_stats().live_pages == before.live_pages);
    CHECK(memory_stats().file_pages == before.file_pages);
    CHECK(memory_stats().tables == before.tables);
  }
}

TEST_CASE("equal pages are stored once, and stay apart in the guests") {
  TempDir dir;
  // The flat program is what fills RAM: thrice the same page, after what runs.
  std::vector<u8> program = ScriptGuest().shut_down().binary();
  program.resize((program.size() / kPageSize + 1) * kPageSize);
  const u64 first = (kProgramOffset + program.size()) >> kPageShift;
  for (u64 i = 0; i < 3 * kPageSize; ++i) program.push_back(static_cast<u8>(i % kPageSize * 7 + 1));
  MachineConfig config;
  config.program = dir.write("program.bin", program);
  config.memory_mib = kMinMemoryMiB;
  Machine::create(config)->freeze()->save(dir.file("g"));
  const GoldenFacts facts = inspect_golden(dir.file("g"), GoldenCheck::kFull);
  CHECK(facts.bodies == facts.stored_pages - 2);

  auto golden = Golden::load(dir.file("g"), {});
  auto writer = Machine::fork(golden, kGrade), reader = Machine::fork(golden, kGrade);
  Machine::impl_of(*writer)->memory->page_for_write(first)[0] = 0xee;
  for (u64 page = first; page < first + 3; ++page) {
    CAPTURE(page);
    CHECK(Machine::impl_of(*reader)->memory->page_for_read(page)[0] == 1);
    CHECK(Machine::impl_of(*writer)->memory->page_for_read(page)[0] == (page == first ? 0xee : 1));
  }
}

TEST_CASE("one page is read without the others") {
  for (GoldenLayout layout : layouts()) {
    SavedGolden saved(layout);
    const GoldenReader whole(saved.path);
    REQUIRE(saved.header.bodies > 1);
    std::vector<u8> expected(kPageSize), got(kPageSize);
    whole.read_body(0, expected.data());
    // Damage that only a reader of the last body can meet: in its page, or beyond the first chunk's frame.
    const GoldenReader damaged(saved.altered(saved.bytes.size() - 1));
    if (layout == GoldenLayout::kMapped) {
      damaged.read_body(0, got.data());
      CHECK(got == expected);
    }
    CHECK_THROWS_AS(damaged.read_body(saved.header.bodies - 1, got.data()), MonitorError);
  }
}

TEST_CASE("a chunk is unpacked without the others") {
  if (!zstd::available()) return;
  TempDir dir;
  std::vector<u8> program = ScriptGuest().shut_down().binary();
  const u64 pages = 3 * golden_file::kChunkPages;
  program.resize(pages * kPageSize);
  for (u64 i = 1; i < pages; ++i) store_le<u64>(&program[i * kPageSize], i);
  MachineConfig config;
  config.program = dir.write("program.bin", program);
  config.memory_mib = kMinMemoryMiB;
  Machine::create(config)->freeze()->save(dir.file("g"), "", GoldenLayout::kCompressed);
  std::vector<u8> bytes = dir.read("g");
  CHECK(bytes.size() < pages * kPageSize / 10);
  bytes.back() ^= 1;
  const GoldenReader damaged(dir.write("damaged", bytes));
  REQUIRE(damaged.header().chunk_count() >= 3);
  std::vector<u8> page(kPageSize);
  for (u64 body = 0; body < 2 * golden_file::kChunkPages; ++body) damaged.read_body(body, page.data());
  CHECK_THROWS_AS(damaged.read_body(damaged.header().bodies - 1, page.data()), MonitorError);
}

TEST_CASE("repacking keeps state, note and code, and comes back to the same bytes") {
  if (!zstd::available()) return;
  SavedGolden saved;
  const std::string packed = saved.dir.file("packed"), back = saved.dir.file("back");
  repack_golden(saved.path, packed, GoldenLayout::kCompressed);
  CHECK(saved.dir.read("packed").size() < saved.bytes.size());
  repack_golden(packed, back, GoldenLayout::kMapped);
  CHECK(saved.dir.read("back") == saved.bytes);
  auto loaded = Golden::load(packed, {});
  CHECK(loaded->digest() == saved.golden->digest());
  CHECK(loaded->has_code());
}

TEST_CASE("an unreadable folder leaves no half file and says which") {
  SavedGolden saved;
  CHECK_THROWS_AS(saved.golden->save(saved.dir.file("no/such/folder/g")), MonitorError);
  const std::size_t before = saved.dir.entries();
  saved.golden->save(saved.dir.file("fresh"));
  CHECK(saved.dir.entries() == before + 1);
  CHECK_THROWS_AS(saved.golden->save(saved.dir.file("x"), std::string(70'000, 'n')), MonitorError);
  CHECK(saved.dir.entries() == before + 1);
}

TEST_CASE("the disks must be the recorded ones") {
  TempDir dir;
  MachineConfig config;
  config.program = dir.write("guest.bin", ScriptGuest().shut_down().binary());
  config.memory_mib = kMinMemoryMiB;
  config.disks.push_back({dir.write("disk", std::vector<u8>(8192)), "image-1", false});
  const std::string path = dir.file("g");
  Machine::create(config)->freeze()->save(path);
  CHECK(inspect_golden(path, GoldenCheck::kFull).disks.at(0).identity == "image-1");
  CHECK(refusal(path, {config.disks, GoldenCheck::kFull}) == ErrorKind::kClosed);
  CHECK(refusal(path) == ErrorKind::kGoldenDisk);
  std::vector<DiskConfig> other = config.disks;
  other[0].identity = "image-2";
  CHECK(refusal(path, {other, GoldenCheck::kFull}) == ErrorKind::kGoldenDisk);
  other = config.disks;
  other[0].path = dir.write("larger", std::vector<u8>(16384));
  CHECK(refusal(path, {other, GoldenCheck::kFull}) == ErrorKind::kGoldenDisk);
  other[0].writable = true;
  CHECK(refusal(path, {other, GoldenCheck::kFull}) == ErrorKind::kGoldenDisk);
}
