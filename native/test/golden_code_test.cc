// The block starts in a golden's file: decoded code at once after a load, and nothing else.
#include "monitor/snapshot/golden_code.h"

#include <doctest/doctest.h>

#include "monitor/machine/machine_impl.h"
#include "monitor/snapshot/golden_impl.h"
#include "test/support/golden_files.h"
#include "test/support/hostile.h"

using namespace shinken;
using namespace shinken::test;

namespace {

/// A golden that was loaded and decoded.
std::shared_ptr<Golden> load_warm(const std::string& path) {
  auto golden = Golden::load(path, {});
  golden->decode_code();
  return golden;
}

RunRequest for_instructions(u64 count) {
  RunRequest request;
  request.max_instructions = count;
  return request;
}

}  // namespace

TEST_CASE("a loaded golden has the code that was shared with it, and its forks decode nothing of it again") {
  SavedGolden saved;
  const GoldenFacts facts = inspect_golden(saved.path, GoldenCheck::kFull);
  CHECK(facts.code_blocks > 3);
  auto loaded = load_warm(saved.path);
  REQUIRE(loaded->has_code());
  const auto code = loaded->impl().code->get();
  CHECK(code->pages() == facts.code_pages);
  auto fork = Machine::fork(loaded, kGrade);
  fork->run(ask(2, 4));
  const auto shared = Machine::impl_of(*fork)->hart->share_blocks();
  for (const auto& [bytes, page] : shared->all()) {
    CHECK(code->find(bytes) == page);
  }
}

TEST_CASE("a fork that is made before the code is decoded decodes as it runs, to the same state") {
  SavedGolden saved;
  auto loaded = Golden::load(saved.path, {});
  auto cold = Machine::fork(loaded, kGrade);
  CHECK(!Machine::impl_of(*cold)->code);
  loaded->decode_code();
  auto warm = Machine::fork(loaded, kGrade);
  CHECK(Machine::impl_of(*warm)->code);
  for (const u32 stream : {2, 3, 4}) {
    cold->run(ask(stream, 4));
    warm->run(ask(stream, 4));
    CHECK(cold->digest() == warm->digest());
  }
}

TEST_CASE("forks of a fork that was made before the code was decoded have it all the same") {
  SavedGolden saved;
  auto loaded = Golden::load(saved.path, {});
  auto early = Machine::fork(loaded, kGrade);
  early->run(ask(2, 4));
  loaded->decode_code();
  const auto golden = early->freeze();
  auto late = Machine::fork(golden, kGrade);
  CHECK(Machine::impl_of(*late)->code == loaded->impl().code->get());
  // What is shared with one golden is not another's.
  late->run(ask(3, 4));
  late->share_code_with(*golden);
  CHECK(golden->impl().code->get() != loaded->impl().code->get());
  auto plain = Machine::fork(loaded, kGrade);
  plain->run(ask(2, 4));
  plain->run(ask(3, 4));
  CHECK(plain->digest() == late->digest());
}

TEST_CASE("stored code changes nothing of what hostile programs do") {
  for (u64 seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    TempDir dir;
    MachineConfig config;
    config.program = dir.write("program.bin", HostileProgram(seed, kProgramOffset >> kPageShift).binary());
    config.memory_mib = kMinMemoryMiB;
    auto machine = Machine::create(config);
    machine->run(for_instructions(3000));
    auto golden = machine->freeze();
    auto giver = Machine::fork(golden, kGrade);
    giver->run(for_instructions(5000));
    giver->share_code_with(*golden);
    golden->save(dir.file("g"));
    auto loaded = load_warm(dir.file("g"));
    CHECK(loaded->has_code());
    auto one = Machine::fork(loaded, kGrade), other = Machine::fork(Golden::load(dir.file("g"), {}), kGrade);
    for (unsigned stage = 0; stage < 10; ++stage) {
      one->run(for_instructions(997));
      other->run(for_instructions(997));
      CHECK(one->digest() == other->digest());
    }
  }
}

TEST_CASE("a golden that is saved again before its code is decoded keeps it") {
  SavedGolden saved;
  Golden::load(saved.path, {})->save(saved.dir.file("again"), "a note");
  CHECK(saved.dir.read("again") == saved.bytes);
}

TEST_CASE("block starts that were altered are left out, and everything else is there") {
  SavedGolden saved;
  const std::string path = saved.altered(saved.header.code.at + 7);
  auto loaded = Golden::load(path, {});
  CHECK(!loaded->has_code());
  CHECK(loaded->digest() == saved.golden->digest());
  CHECK(Machine::fork(loaded, kGrade)->run(ask(2)).reason == StopReason::kReply);
  CHECK(fault(path) == ErrorKind::kGoldenCode);
}

TEST_CASE("block starts that lie under a valid checksum do no harm") {
  SavedGolden saved;
  const std::vector<u8> honest = saved.content(saved.header.code);
  auto straight = Machine::fork(saved.golden, kGrade);
  straight->run(ask(2, 5));
  const auto load_with = [&](const std::vector<u8>& code) {
    return load_warm(saved.replaced(&golden_file::Header::code, code));
  };
  // Malformed: a body that is not there, no ascending order, beyond the page, cut short.
  for (const auto& [at, value] :
       std::vector<std::pair<u64, u16>>{{2, 0xffff}, {8, 0}, {6, 0x800}, {4, 0xffff}}) {
    std::vector<u8> code = honest;
    store_le<u16>(&code[at], value);
    CAPTURE(at);
    CHECK(!load_with(code)->has_code());
  }
  // Well formed, but every block starts somewhere else: in data, within instructions.
  std::vector<u8> other(honest.size());
  store_le<u16>(&other[4], static_cast<u16>((honest.size() - 6) / 2 - 1));
  for (u64 i = 0; i < (honest.size() - 6) / 2; ++i) store_le<u16>(&other[6 + 2 * i], static_cast<u16>(i));
  auto misled = load_with(other);
  REQUIRE(misled->has_code());
  auto fork = Machine::fork(misled, kGrade);
  fork->run(ask(2, 5));
  CHECK(fork->digest() == straight->digest());
}
