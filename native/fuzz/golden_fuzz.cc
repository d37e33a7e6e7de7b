// Golden files of any content and both versions. So that mutations reach beyond the checksums, they are made
// right before loading, unless the file's last byte is odd; what loads must also fork and run.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz/support/golden_sums.h"
#include "monitor/machine/machine.h"
#include "monitor/snapshot/golden_inspect.h"

using namespace shinken;
using namespace shinken::fuzz;

namespace {

Digest sum_of(std::vector<u8>& file, u64 stored, u64 index, u64 step, u64 hashes) {
  Digest sum;
  for (u64 i = 0; i < stored; ++i) {
    if (part_at(file, index + i * step, step).bytes == 0) return sum;
    const u8* entry = &file[index + i * step];
    const u64 number = step == 8 ? load_le<u32>(entry) : load_le<u64>(entry);
    const u64 hash = step == 8 ? hashes + u64{load_le<u32>(entry + 4)} * 16 : index + i * step + 8;
    if (part_at(file, hash, 16).bytes == 0) continue;
    const Digest share = page_share(number, {load_le<u64>(&file[hash]), load_le<u64>(&file[hash + 8])});
    sum.lo += share.lo;
    sum.hi += share.hi;
  }
  return sum;
}

void make_sums_right_1(std::vector<u8>& file) {
  if (file.size() < golden_file::kHeaderBytes1) return;
  const u64 stored = load_le<u64>(&file[48]), index = load_le<u64>(&file[64]),
            pages = load_le<u64>(&file[72]);
  put_digest(&file[80], hash_of(file, part_at(file, golden_file::kHeaderBytes1, load_le<u64>(&file[56]))));
  if (stored < 1000 && index <= file.size() && pages <= file.size()) {
    hash_bodies(file, index + 8, 24, stored, pages);
    put_digest(&file[96], hash_of(file, part_at(file, index, stored * 24)));
    put_state_digest(file, golden_file::kHeaderBytes1, sum_of(file, stored, index, 24, 0));
  }
  put_digest(&file[112], hash_bytes(std::span(file).first(112)));
}

void make_sums_right_2(std::vector<u8>& file) {
  if (file.size() < golden_file::kHeaderBytes) return;
  const auto section = [&](unsigned i) {
    return Part{load_le<u64>(&file[80 + 32 * i]), load_le<u64>(&file[88 + 32 * i])};
  };
  const u64 stored = load_le<u64>(&file[48]), bodies = load_le<u64>(&file[56]);
  const u64 index = section(1).at, hashes = index + stored * 8, pages = section(4).at;
  if (stored < 1000 && bodies < 1000 && index <= file.size() && pages <= file.size() &&
      section(2).at <= file.size()) {
    hash_all_bodies(file, hashes, bodies, section(2).at, pages);
    put_state_digest(file, section(0).at, sum_of(file, stored, index, 8, hashes));
  }
  for (unsigned i = 0; i < 4; ++i) {
    put_digest(&file[96 + 32 * i], hash_of(file, part_at(file, section(i).at, section(i).bytes)));
  }
  put_digest(&file[240], hash_bytes(std::span(file).first(240)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  std::vector<u8> file(data, data + size);
  if (size > 12 && file.back() % 2 == 0) {
    if (file[8] == 1) {
      make_sums_right_1(file);
    } else {
      make_sums_right_2(file);
    }
  }
  const int fd = memfd_create("golden", MFD_CLOEXEC);
  if (fd < 0 || write(fd, file.data(), file.size()) != static_cast<ssize_t>(file.size())) __builtin_trap();
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  try {
    const auto golden = Golden::load(path, {});
    golden->decode_code();
    const auto machine = Machine::fork(golden, {ForkKind::kReplica, {1}});
    RunRequest request;
    request.max_instructions = 2000;
    machine->run(std::move(request));
    machine->freeze();
    // What loads is what an inspection finds, save that a load goes without block starts that are wrong.
    if (inspect_golden(path, GoldenCheck::kIndex).digest != golden->digest()) __builtin_trap();
  } catch (const MonitorError&) {
  }
  close(fd);
  return 0;
}
