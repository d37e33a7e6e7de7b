// Accesses of any size at any offset to the registers of each device, with nothing set up in good order.
// Input: {device u8}, then commands {op u8, offset u16, value u32}.
#include <array>

#include "fuzz/support/commands.h"
#include "monitor/devices/generation_id.h"
#include "monitor/devices/uart.h"
#include "monitor/devices/virtio_block.h"
#include "monitor/devices/virtio_console.h"
#include "monitor/devices/virtio_mmio.h"
#include "monitor/devices/virtio_net.h"
#include "test/support/temp_dir.h"

using namespace shinken;
using namespace shinken::fuzz;

namespace {

std::shared_ptr<DiskFile> disk() {
  static test::TempDir dir;
  static auto file = DiskFile::open(dir.write("disk", std::vector<u8>(64 * 1024, 7)), "fuzz", false);
  return file;
}

std::unique_ptr<Device> make(unsigned which, DeviceHost* host) {
  const auto virtio = [host](std::unique_ptr<VirtioDevice> device) {
    return std::make_unique<VirtioMmio>(host, DeviceId::kVirtio0, 1, std::move(device));
  };
  switch (which) {
    case 0:
      return virtio(std::make_unique<VirtioBlock>(disk()));
    case 1:
      return virtio(std::make_unique<VirtioConsole>([](unsigned, std::span<const u8>) {}));
    case 2:
      return virtio(std::make_unique<VirtioNet>([](std::span<const u8>) { return false; }));
    case 3:
      return std::make_unique<Uart>(host, 10, [](u8) {});
    default:
      return std::make_unique<GenerationId>(host, 9);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  constexpr u64 kWindows[] = {VirtioMmio::kWindow, VirtioMmio::kWindow, VirtioMmio::kWindow, Uart::kWindow,
                              GenerationId::kWindow};
  QuietHost host, other_host;
  Commands commands(data, size);
  const unsigned which = commands.flags % 5;
  const auto device = make(which, &host);
  while (commands.next()) {
    const unsigned width = 1u << commands.op / 4 % 4;
    // Mostly aligned words, so that something happens; the window's last bytes, too.
    const u64 offset =
        commands.op % 2 == 0 ? commands.a % kWindows[which] & ~u64{3} : commands.a % kWindows[which];
    const u64 wide = u64{commands.b} << 32 | commands.b;
    if (commands.op % 4 < 2) {
      device->write(offset, width, width == 8 ? wide : commands.b);
    } else if (u64 value = 0; device->read(offset, width, &value) && width < 8) {
      require(value >> (8 * width) == 0);
    }
    if (commands.op % 32 == 31) device->on_event(commands.b % 4);
  }
  const auto other = make(which, &other_host);
  require_same_state(*device, *other);
  return 0;
}
