// Files of every version of the format, as monitors of their time wrote them: docs/golden.md.
#include <doctest/doctest.h>

#include "monitor/machine/abi.h"
#include "monitor/snapshot/golden_reader.h"
#include "test/support/golden_files.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr const char* kStateDigest = "2815997eedd4b77d1839a3d6cf1cfdb0";

std::string stored(const std::string& name) {
  return (std::filesystem::path(__FILE__).parent_path() / "golden" / name).string();
}

struct Stored {
  const char* name;
  u32 version;
  const char* note;
  u64 code_blocks;
};

}  // namespace

TEST_CASE("files of every version are read, with the state that they were written with") {
  for (const Stored& file : {Stored{"echo-v1.golden", 1, "written by format 1", 0},
                             Stored{"echo-v2.golden", 2, "written by format 2", 5},
                             Stored{"echo-v2-compressed.golden", 2, "written by format 2", 5}}) {
    CAPTURE(file.name);
    const std::string path = stored(file.name);
    const GoldenFacts facts = inspect_golden(path, GoldenCheck::kFull);
    CHECK(facts.version == file.version);
    CHECK(facts.digest.hex() == kStateDigest);
    CHECK(facts.note == file.note);
    CHECK(facts.memory_bytes == kMinMemoryMiB << 20);
    CHECK(facts.code_blocks == file.code_blocks);
    // The device state in a file is that of its machine_abi; the format is read whatever it is.
    if (facts.machine_abi != kMachineAbi) {
      CHECK(refusal(path) == ErrorKind::kGoldenAbi);
      continue;
    }
    auto golden = Golden::load(path, {});
    CHECK(golden->digest().hex() == kStateDigest);
    CHECK(Machine::fork(golden, kGrade)->run(ask(2, 1)).reason == StopReason::kReply);
  }
}

TEST_CASE(
    "delta files of every version are opened on their golden, with the state that they were written with") {
  for (const char* name : {"echo-v1.delta", "echo-v1-compressed.delta"}) {
    CAPTURE(name);
    const golden_file::Header header = GoldenReader(stored(name), golden_file::FileKind::kDelta).header();
    CHECK(header.version == 1);
    CHECK(header.stands_on.hex() == kStateDigest);
    CHECK(header.state_digest.hex() == "c7fbe985c29a7902d0bf673a1ce70ca0");
    CHECK(header.stored_pages == 3);
    if (header.machine_abi != kMachineAbi) continue;
    // A file of another version of that golden serves as well.
    const auto golden = Golden::load(stored("echo-v1.golden"), {});
    const auto state = load_delta(stored(name), *golden);
    CHECK(state->digest() == header.state_digest);
    CHECK(state->note() == "written by delta format 1");
    CHECK(Machine::fork(state, kGrade)->run(ask(3, 1)).reason == StopReason::kReply);
  }
}

TEST_CASE("a file of version 1 that was altered is refused by the part that was") {
  TempDir dir;
  std::vector<u8> bytes;
  {
    std::ifstream in(stored("echo-v1.golden"), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const u64 index_at = load_le<u64>(&bytes[64]), pages_at = load_le<u64>(&bytes[72]);
  const auto altered = [&](u64 at) {
    std::vector<u8> copy = bytes;
    copy[at] ^= 0x10;
    return fault(dir.write("altered", copy));
  };
  for (u64 at = 12; at < 128; ++at) {
    CAPTURE(at);
    CHECK(altered(at) == ErrorKind::kGoldenHeader);
  }
  CHECK(altered(128) == ErrorKind::kGoldenState);
  CHECK(altered(index_at) == ErrorKind::kGoldenIndex);
  CHECK(altered(index_at + 8) == ErrorKind::kGoldenIndex);
  CHECK(altered(pages_at) == ErrorKind::kGoldenPage);
  CHECK(altered(bytes.size() - 1) == ErrorKind::kGoldenPage);
  CHECK(fault(dir.write("cut", std::span(bytes).first(bytes.size() - 1))) == ErrorKind::kGoldenTruncated);
  CHECK(fault(dir.write("cut", std::span(bytes).first(127))) == ErrorKind::kGoldenTruncated);
}

TEST_CASE("a file of version 1 is repacked to the present one") {
  TempDir dir;
  repack_golden(stored("echo-v1.golden"), dir.file("g"), GoldenLayout::kMapped);
  const GoldenFacts facts = inspect_golden(dir.file("g"), GoldenCheck::kFull);
  CHECK(facts.version == golden_file::kVersion);
  CHECK(facts.digest.hex() == kStateDigest);
  CHECK(facts.note == "written by format 1");
}
