// A hostile driver of the block device.
#include <cstring>

#include "fuzz/support/driver.h"
#include "monitor/devices/virtio_block.h"
#include "test/support/temp_dir.h"

using namespace shinken;
using namespace shinken::fuzz;
using namespace shinken::test;

namespace {

constexpr std::size_t kDiskBytes = 64 * 1024;
constexpr u32 kFlush = 1u << 9;

std::shared_ptr<DiskFile> disk(bool writable) {
  static TempDir dir;
  static const std::vector<u8> content(kDiskBytes, 7);
  static auto fixed = DiskFile::open(dir.write("fixed", content), "fuzz", false);
  static auto open = DiskFile::open(dir.write("open", content), "fuzz", true);
  return writable ? open : fixed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  Commands commands(data, size);
  const bool writable = (commands.flags & 4) != 0;
  FakeDriver driver(std::make_unique<VirtioBlock>(disk(writable)), pool());
  if ((commands.flags & 2) != 0) driver.start({0}, writable ? kFlush : 0);
  while (commands.next()) drive(driver, commands, commands.op % kDriverOps, 1);
  if (!writable) {
    u8 bytes[kDiskBytes];
    require(disk(false)->read(0, bytes));
    for (const u8 byte : bytes) require(byte == 7);
  }
  FakeDriver other(std::make_unique<VirtioBlock>(disk(writable)), pool());
  require_same_state(driver.mmio, other.mmio);
  return 0;
}
