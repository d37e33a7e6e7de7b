#include "monitor/snapshot/golden_file.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/base/bytes.h"
#include "test/support/machines.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr ForkOptions kGrade{ForkKind::kGrade, {}};

/// The kind with which a load is refused; kClosed if it is not.
ErrorKind refusal(const std::string& path, const GoldenLoad& options = {}) {
  try {
    Golden::load(path, options);
  } catch (const MonitorError& error) {
    return error.kind();
  }
  return ErrorKind::kClosed;
}

struct Saved {
  TempDir dir;
  std::shared_ptr<Golden> golden;
  std::string path;
  std::vector<u8> bytes;
  Saved() {
    auto machine = start_echo(dir, 4);
    machine->run(ask(1, 3));
    golden = machine->freeze();
    path = dir.file("g");
    golden->save(path, "a note");
    bytes = dir.read("g");
  }
  u64 word(u64 at) const { return load_le<u64>(bytes.data() + at); }
  u64 index_at() const { return word(64); }
  u64 pages_at() const { return word(72); }
  /// Refusal of a copy with one bit changed.
  ErrorKind altered(u64 at) {
    std::vector<u8> copy = bytes;
    copy[at] ^= 0x10;
    return refusal(dir.write("altered", copy));
  }
  ErrorKind truncated(u64 length) { return refusal(dir.write("cut", std::span(bytes).first(length))); }
  /// Refusal of a copy with a changed header field under a fresh seal.
  template <typename T>
  ErrorKind resealed(u64 at, T value) {
    std::vector<u8> copy = bytes;
    store_le<T>(&copy[at], value);
    const Digest seal = hash_bytes(std::span(copy).first(golden_file::kHeaderBytes - 16));
    store_le(&copy[112], seal.lo);
    store_le(&copy[120], seal.hi);
    return refusal(dir.write("resealed", copy));
  }
};

}  // namespace

TEST_CASE("a golden comes back from its file with digest, note and behaviour") {
  Saved saved;
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

TEST_CASE("saving twice gives the same bytes, and so does saving what was loaded") {
  Saved saved;
  saved.golden->save(saved.dir.file("h"), "a note");
  CHECK(saved.dir.read("h") == saved.bytes);
  Golden::load(saved.path, {})->save(saved.dir.file("i"), "a note");
  CHECK(saved.dir.read("i") == saved.bytes);
  Golden::load(saved.path, {})->save(saved.path, "another");
  CHECK(Golden::load(saved.path, {})->note() == "another");
}

TEST_CASE("another process loads the same state") {
  Saved saved;
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

TEST_CASE("forks outlive the golden that was loaded") {
  Saved saved;
  auto fork = Machine::fork(Golden::load(saved.path, {{}, GoldenCheck::kIndex}), kGrade);
  unlink(saved.path.c_str());
  CHECK(fork->run(ask(2)).reason == StopReason::kReply);
  CHECK(fork->run(ask(3)).reason == StopReason::kReply);
}

TEST_CASE("a file cut anywhere is refused as truncated") {
  Saved saved;
  for (u64 length : {u64{0}, u64{7}, u64{100}, u64{127}, u64{128}, saved.index_at(), saved.pages_at(),
                     saved.pages_at() + 5, u64{saved.bytes.size() - 1}}) {
    CAPTURE(length);
    CHECK(saved.truncated(length) == ErrorKind::kGoldenTruncated);
  }
}

TEST_CASE("a change in each section is refused by that section's name") {
  Saved saved;
  CHECK(saved.altered(0) == ErrorKind::kGoldenMagic);
  CHECK(saved.altered(8) == ErrorKind::kGoldenVersion);
  for (u64 at : {12, 16, 31, 32, 47, 48, 64, 72, 80, 111, 112, 127}) {
    CAPTURE(at);
    CHECK(saved.altered(at) == ErrorKind::kGoldenHeader);
  }
  CHECK(saved.altered(128) == ErrorKind::kGoldenState);
  CHECK(saved.altered(500) == ErrorKind::kGoldenState);
  CHECK(saved.altered(saved.index_at()) == ErrorKind::kGoldenIndex);
  CHECK(saved.altered(saved.index_at() + 8) == ErrorKind::kGoldenIndex);
  CHECK(saved.altered(saved.pages_at()) == ErrorKind::kGoldenPage);
  CHECK(saved.altered(saved.bytes.size() - 1) == ErrorKind::kGoldenPage);
  std::vector<u8> longer = saved.bytes;
  longer.push_back(0);
  CHECK(refusal(saved.dir.write("longer", longer)) == ErrorKind::kGoldenHeader);
}

TEST_CASE("a header that lies under a valid seal is refused, too") {
  Saved saved;
  CHECK(saved.resealed<u32>(12, kMachineAbi + 1) == ErrorKind::kGoldenAbi);
  CHECK(saved.resealed<u64>(16, 1) == ErrorKind::kGoldenDigest);
  CHECK(saved.resealed<u64>(32, ~u64{0}) == ErrorKind::kGoldenHeader);  // file_bytes
  CHECK(saved.resealed<u64>(40, ~u64{0}) == ErrorKind::kGoldenHeader);  // memory_pages
  CHECK(saved.resealed<u64>(40, 20'000) == ErrorKind::kGoldenDigest);
  CHECK(saved.resealed<u64>(48, ~u64{0}) == ErrorKind::kGoldenHeader);  // stored_pages
  CHECK(saved.resealed<u64>(56, ~u64{0}) == ErrorKind::kGoldenHeader);  // meta_bytes
  CHECK(saved.resealed<u64>(64, ~u64{7}) == ErrorKind::kGoldenHeader);  // index_at
  CHECK(saved.resealed<u64>(72, u64{1} << 60) == ErrorKind::kGoldenHeader);
}

TEST_CASE("an unreadable folder leaves no half file and says which") {
  Saved saved;
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
