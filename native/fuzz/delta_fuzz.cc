// Delta files of any content, on one golden. Their checksums are made right before loading, unless the file's
// last byte is odd; what loads must also fork, run, and be written again to the same state.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz/support/golden_sums.h"
#include "monitor/machine/machine.h"
#include "monitor/snapshot/delta.h"
#include "monitor/snapshot/state_difference.h"
#include "test/support/script_guest.h"

using namespace shinken;
using namespace shinken::fuzz;
using shinken::test::ScriptGuest;

namespace {

std::string memory_path(const char* name, std::span<const u8> content, int* fd) {
  *fd = memfd_create(name, MFD_CLOEXEC);
  if (*fd < 0 || write(*fd, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    __builtin_trap();
  return "/proc/self/fd/" + std::to_string(*fd);
}

/// The same in every process: a guest that has opened its port.
const std::shared_ptr<Golden>& golden() {
  static const std::shared_ptr<Golden> made = [] {
    const std::vector<u8> guest =
        ScriptGuest().open_agent_port().echo(8, 4).wait16(ScriptGuest::data(0x7000), 1).binary();
    int fd = -1;
    MachineConfig config;
    config.program = memory_path("guest", guest, &fd);
    config.memory_mib = kMinMemoryMiB;
    auto machine = Machine::create(config);
    machine->run({});
    close(fd);
    return machine->freeze();
  }();
  return made;
}

/// Of the golden's memory with the file's pages in it.
Digest sum_of(std::vector<u8>& file, u64 stored, u64 index, u64 hashes) {
  Digest sum = golden()->impl().memory_sum();
  const MemoryImage& base = *golden()->impl().image;
  for (u64 i = 0; i < stored; ++i) {
    if (part_at(file, index + i * 8, 8).bytes == 0) return sum;
    const u64 number = load_le<u32>(&file[index + i * 8]);
    const u64 hash = hashes + u64{load_le<u32>(&file[index + i * 8 + 4])} * 16;
    if (number >= base.pages() || part_at(file, hash, 16).bytes == 0) continue;
    const Page* old = base.find(number);
    const Digest in = page_share(number, {load_le<u64>(&file[hash]), load_le<u64>(&file[hash + 8])});
    const Digest out = old == nullptr ? Digest{} : page_share(number, hash_page(old->data));
    sum.lo += in.lo - out.lo;
    sum.hi += in.hi - out.hi;
  }
  return sum;
}

void make_sums_right(std::vector<u8>& file) {
  if (file.size() < golden_file::kHeaderBytes) return;
  const auto section = [&](unsigned i) {
    return Part{load_le<u64>(&file[80 + 32 * i]), load_le<u64>(&file[88 + 32 * i])};
  };
  const u64 stored = load_le<u64>(&file[48]), bodies = load_le<u64>(&file[56]);
  const u64 index = section(1).at, hashes = index + stored * 8, chunks = section(2).at, pages = section(3).at;
  if (stored < 1000 && bodies < 1000 && index <= file.size() && pages <= file.size() &&
      chunks <= file.size()) {
    hash_all_bodies(file, hashes, bodies, chunks, pages);
    put_state_digest(file, section(0).at, sum_of(file, stored, index, hashes));
  }
  for (unsigned i = 0; i < 3; ++i) {
    put_digest(&file[96 + 32 * i], hash_of(file, part_at(file, section(i).at, section(i).bytes)));
  }
  put_digest(&file[208], golden()->digest());
  put_digest(&file[240], hash_bytes(std::span(file).first(240)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  std::vector<u8> file(data, data + size);
  if (size > 12 && file.back() % 2 == 0) make_sums_right(file);
  int fd = -1;
  const std::string path = memory_path("delta", file, &fd);
  try {
    const auto state = load_delta(path, *golden());
    const auto machine = Machine::fork(state, {ForkKind::kGrade, {}});
    if (machine->digest() != state->digest()) __builtin_trap();
    const std::string again = "/tmp/delta-fuzz-" + std::to_string(getpid());
    const DeltaFacts facts = save_delta(*machine->freeze(), *golden(), again, {state->note(), false});
    const auto twin = load_delta(again, *golden());
    unlink(again.c_str());
    if (facts.digest != state->digest() || !compare_states(*state, *twin).equal()) __builtin_trap();
    RunRequest request;
    request.max_instructions = 2000;
    machine->run(std::move(request));
    machine->freeze();
  } catch (const MonitorError&) {
  }
  close(fd);
  return 0;
}
