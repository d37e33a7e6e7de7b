#include "monitor/memory/map_memory.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "monitor/base/error.h"
#include "test/support/flat_memory.h"
#include "test/support/hostile.h"
#include "test/support/patching.h"

using namespace shinken;
using namespace shinken::test;

MAP_TEST_CASE(
    "a digest hashes what was written since the last one, by pages that were handed out long before") {
  if (!host_has(&Userfault::has_scan)) {
    MESSAGE("skipped: this kernel has no PAGEMAP_SCAN (Linux 6.7)");
    return;
  }
  MapMemory memory(image_with(1000));
  std::vector<u8*> places;
  for (u64 page = 0; page < 100; ++page) {
    places.push_back(memory.page_for_write(page));
    *places.back() = 0xee;
  }
  memory.sum();
  CHECK(memory.paths().scanned_pages == 100);
  memory.sum();
  CHECK(memory.paths().scanned_pages == 100);
  // As a hart does whose translations stand: nobody asks the memory.
  for (u64 page : {3, 4, 50}) places[page][7] = 0xdd;
  const Digest sum = memory.sum();
  CHECK(memory.paths().scanned_pages == 103);
  SoftMemory other(*memory.freeze());
  CHECK(other.sum() == sum);
}

MAP_TEST_CASE("without the scan the raw page map finds the same digests") {
  const auto image = image_with(1000);
  MapMemory scanned(image), raw(image);
  raw.scan_by(WriteScan::kPrivate);
  Random random(7);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 50; ++i) {
      const u64 page = random.below(kPages);
      const u8 value = static_cast<u8>(random.below(3));
      put(scanned, page, value);
      put(raw, page, value);
    }
    REQUIRE(raw.sum() == scanned.sum());
    if (round % 7 == 6) {
      const auto frozen = raw.freeze();
      REQUIRE(frozen->sum() == scanned.freeze()->sum());
      REQUIRE(SoftMemory(*frozen).sum() == raw.sum());
    }
  }
  CHECK(raw.paths().scanned_pages > 0);
}

MAP_TEST_CASE("a page that was handed out and never written is not hashed") {
  for (const WriteScan scan : {WriteScan::kWritten, WriteScan::kPrivate}) {
    if (scan == WriteScan::kWritten && !host_has(&Userfault::has_scan)) continue;
    MapMemory memory(image_with(100));
    memory.scan_by(scan);
    memory.page_for_write(1);
    *memory.page_for_write(2) = 9;
    memory.sum();
    CHECK(memory.paths().scanned_pages == 1);
  }
}

MAP_TEST_CASE("reading and writing pages of zeros leaves the golden's file as it is") {
  const auto image = image_with(10);
  const u64 before = memory_stats().live_pages;
  MapMemory fork(image);
  for (u64 page = 0; page < kPages; ++page) CHECK(fork.page_for_read(page)[5] == (page < 10 ? 1 + page : 0));
  CHECK(memory_stats().live_pages == before);
  put(fork, 5000, 1);
  CHECK(memory_stats().live_pages == before + 1);
}

MAP_TEST_CASE("a fork of a changed fork maps its ancestor's file and copies what was changed") {
  const auto image = image_with(1000);
  MapMemory parent(image);
  for (u64 page : {1, 500, 4000}) put(parent, page, 0xaa);
  const auto changed = parent.freeze();
  CHECK(changed->flat_slot().flat == image->flat_slot().flat);
  const u64 before = memory_stats().live_pages;
  MapMemory child(changed);
  CHECK(memory_stats().live_pages == before + 3);
  CHECK(child.sum() == parent.sum());
  CHECK(child.page_for_read(500)[9] == 0xaa);
}

MAP_TEST_CASE("an image whose forks have copied as much as it holds gets a file of its own") {
  const auto image = image_with(100);
  MapMemory parent(image);
  for (u64 page = 0; page < 40; ++page) put(parent, page, 0xbb);
  const auto changed = parent.freeze();
  const Digest sum = changed->sum();
  for (int i = 0; i < 5; ++i) CHECK(MapMemory(changed).sum() == sum);
  CHECK(changed->flat_slot().flat != image->flat_slot().flat);
  const u64 before = memory_stats().live_pages;
  MapMemory child(changed);
  CHECK(memory_stats().live_pages == before);
}

MAP_TEST_CASE("a memory lives on after its golden, its parent and the golden's file are gone") {
  auto memory = std::make_unique<MapMemory>(image_with(300));
  put(*memory, 2, 77);
  const Digest sum = memory->sum();
  memory = std::make_unique<MapMemory>(memory->freeze());
  CHECK(memory->sum() == sum);
  CHECK(memory->page_for_read(2)[0] == 77);
  CHECK(memory->page_for_read(299)[0] == 1 + 299 % 200);
}

MAP_TEST_CASE("where the host has huge pages for shared memory, dense parts of a golden lie in them") {
  const auto image = image_with(1024);
  const u64 huge = image->flat_slot().flat->huge();
  CHECK(host_grants_huge_pages() == (huge > 0));
  if (huge == 0) {
    MESSAGE("skipped: no huge pages for shared memory here (shmem_enabled), goldens lie in small ones");
  } else {
    CHECK(huge == 2 * (u64{2} << 20));
  }
  MapMemory fork(image);
  put(fork, 17, 3);
  CHECK(fork.page_for_read(17)[1] == 3);
  CHECK(fork.page_for_read(18)[1] == 19);
  CHECK(MapMemory(image).page_for_read(17)[1] == 18);
}

MAP_TEST_CASE("the same program ends in the same state on both memories, stage by stage") {
  for (u64 seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const bool hostile = seed % 2 == 0;
    TempDir dir;
    MachineConfig config;
    config.program =
        dir.write("program.bin", hostile ? HostileProgram(seed, kProgramOffset >> kPageShift).binary()
                                         : patching_program(seed));
    config.memory_mib = kMinMemoryMiB;
    config.memory = seed % 3 == 0 ? MemoryKind::kSoft : MemoryKind::kMap;
    RunRequest stage;
    stage.max_instructions = 1500;
    auto first = Machine::create(config);
    first->run(stage);
    auto golden = first->freeze();
    auto soft = Machine::fork(golden, kOnSoft), flat = Machine::fork(golden, kOnMap);
    for (int round = 0; round < 6; ++round) {
      soft->run(stage);
      flat->run(stage);
      REQUIRE(soft->digest() == flat->digest());
      if (round == 2) {
        // Code that a flat fork decoded serves later forks of either kind, by where the golden has the pages.
        flat->share_code_with(*golden);
      }
      if (round == 3) {
        soft = Machine::fork(flat->freeze(), kOnSoft);
      }
      if (round == 4) {
        flat = Machine::fork(soft->freeze(), kOnMap);
      }
    }
    for (const ForkOptions& warm : {kOnSoft, kOnMap}) {
      auto late = Machine::fork(golden, warm);
      for (int round = 0; round < 6; ++round) late->run(stage);
      CHECK(late->digest() == soft->digest());
    }
  }
}

TEST_CASE("a host that forbids userfaultfd is told of with what to set, and soft memory works there") {
  // In a process of its own: root's rights and the system call are taken from it for good.
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{4, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(3);
    if (getuid() == 0 && setuid(65'534) != 0) _exit(4);
    std::string said;
    try {
      MapMemory memory(std::make_shared<PagePool>(), kPages);
    } catch (const MonitorError& error) {
      said = error.kind() == ErrorKind::kHostUnsupported ? error.what() : "another kind";
    }
    if (write(ends[1], said.data(), said.size()) < 0) _exit(5);
    SoftMemory soft(std::make_shared<PagePool>(), kPages);
    put(soft, 3, 1);
    _exit(soft.sum() != Digest{} ? 0 : 6);
  }
  close(ends[1]);
  char text[512] = {};
  const ssize_t length = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  REQUIRE(length > 0);
  const std::string said = text;
  CHECK(said.find("vm.unprivileged_userfaultfd=1") != std::string::npos);
  CHECK(said.find("soft memory") != std::string::npos);
}
