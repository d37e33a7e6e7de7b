// A hostile driver: register writes, memory writes, notifications and time, against console and block device.
// Input: commands of {op u8, a u16, b u32}, little-endian.
#include "monitor/devices/virtio_block.h"
#include "monitor/devices/virtio_console.h"
#include "test/support/fake_driver.h"
#include "test/support/temp_dir.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr std::size_t kCommandBytes = 7;
constexpr std::size_t kMaxCommands = 2000;

std::shared_ptr<DiskFile> disk() {
  static TempDir dir;
  static auto file = DiskFile::open(dir.write("disk", std::vector<u8>(64 * 1024, 7)), "fuzz", false);
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  if (size == 0) return 0;
  VirtioConsole* console = nullptr;
  std::unique_ptr<VirtioDevice> device;
  if ((data[0] & 1) != 0) {
    device = std::make_unique<VirtioBlock>(disk());
  } else {
    auto made = std::make_unique<VirtioConsole>([](unsigned, std::span<const u8>) {});
    console = made.get();
    device = std::move(made);
  }
  FakeDriver driver(std::move(device));
  if ((data[0] & 2) != 0) driver.start({0, 1, 2, 3, 4, 5, 6, 7}, console != nullptr ? 2 : 0);
  ++data, --size;
  for (std::size_t n = 0; n < kMaxCommands && size >= kCommandBytes;
       ++n, data += kCommandBytes, size -= kCommandBytes) {
    const u16 a = load_le<u16>(data + 1);
    const u32 b = load_le<u32>(data + 3);
    switch (data[0] % 8) {
      case 0:
        driver.set(a % 0x200 & ~3u, b);
        break;
      case 1:
        driver.poke<u32>(kRamBase + 0x10000 + 4 * u64{a}, b);
        break;
      case 2:
        driver.kick(a % 8);
        break;
      case 3:
        driver.pass(b % 5000);
        break;
      case 4:
        driver.descriptor(a % 8, a >> 3 & 7, FakeDriver::buffer(b % 100), b >> 8 & 0xffff, a >> 6 & 3,
                          a >> 8 & 7);
        break;
      case 5:
        driver.offer(a % 8, static_cast<u16>(b % 9));
        break;
      case 6:
        driver.reg(a % 0x200);
        break;
      case 7:
        if (console != nullptr && console->pending(1) < 4096)
          console->send(1 + a % 2, std::vector<u8>(b % 512, 1));
        break;
    }
  }
  // Whatever state it came to can be saved and loaded.
  ByteWriter saved;
  driver.mmio.save(saved);
  const std::vector<u8> bytes = saved.take();
  ByteReader from(bytes);
  driver.mmio.load(from);
  if (!from.ok() || !from.at_end()) __builtin_trap();
  return 0;
}
