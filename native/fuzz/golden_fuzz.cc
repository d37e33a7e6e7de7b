// Golden files of any content. So that mutations reach beyond the checksums, they are made right before
// loading, unless the file's last byte is odd; what loads must also fork and run.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "monitor/base/bytes.h"
#include "monitor/machine/machine.h"
#include "monitor/snapshot/golden_file.h"
#include "monitor/snapshot/golden_impl.h"

using namespace shinken;

namespace {

void put_digest(u8* at, const Digest& digest) {
  store_le(at, digest.lo);
  store_le(at + 8, digest.hi);
}

void make_sums_right(std::vector<u8>& file) {
  if (file.size() < golden_file::kHeaderBytes) return;
  const u64 meta = load_le<u64>(&file[56]), index = load_le<u64>(&file[64]), stored = load_le<u64>(&file[48]);
  const u64 room = file.size() - golden_file::kHeaderBytes;
  if (meta <= room)
    put_digest(&file[80], hash_bytes(std::span(file).subspan(golden_file::kHeaderBytes, meta)));
  const u64 pages = load_le<u64>(&file[72]);
  const u64 index_bytes = stored * golden_file::kIndexEntryBytes;
  if (stored < 1000 && index <= file.size() && index_bytes <= file.size() - index) {
    Digest sum;
    for (u64 i = 0; i < stored; ++i) {
      u8* entry = &file[index] + i * golden_file::kIndexEntryBytes;
      if (pages <= file.size() && (i + 1) * kPageSize <= file.size() - pages) {
        put_digest(entry + 8, hash_page(&file[pages + i * kPageSize]));
      }
      const Digest share =
          page_share(load_le<u64>(entry), {load_le<u64>(entry + 8), load_le<u64>(entry + 16)});
      sum.lo += share.lo;
      sum.hi += share.hi;
    }
    put_digest(&file[96], hash_bytes(std::span(file).subspan(index, index_bytes)));
    const u64 state = room >= 4 ? load_le<u32>(&file[128]) : 0;
    if (room >= 4 && state <= room - 4) {
      put_digest(&file[16],
                 machine_digest(std::span(file).subspan(132, state), load_le<u64>(&file[40]), sum));
    }
  }
  put_digest(&file[112], hash_bytes(std::span(file).first(112)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  std::vector<u8> file(data, data + size);
  if (size > 0 && file.back() % 2 == 0) make_sums_right(file);
  const int fd = memfd_create("golden", MFD_CLOEXEC);
  if (fd < 0 || write(fd, file.data(), file.size()) != static_cast<ssize_t>(file.size())) __builtin_trap();
  try {
    const auto golden = Golden::load("/proc/self/fd/" + std::to_string(fd), {});
    const auto machine = Machine::fork(golden, {ForkKind::kReplica, {1}});
    RunRequest request;
    request.max_instructions = 2000;
    machine->run(std::move(request));
    machine->freeze();
  } catch (const MonitorError&) {
  }
  close(fd);
  return 0;
}
