// A hostile driver of the console and its ports, while the host sends.
#include "fuzz/support/driver.h"
#include "monitor/devices/frame.h"
#include "monitor/devices/virtio_console.h"

using namespace shinken;
using namespace shinken::fuzz;
using namespace shinken::test;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  constexpr unsigned kQueues = 2 * VirtioConsole::kPorts + 2;
  FrameParser parsers[VirtioConsole::kPorts];
  Commands commands(data, size);
  auto made = std::make_unique<VirtioConsole>([&](unsigned port, std::span<const u8> bytes) {
    require(port < VirtioConsole::kPorts && bytes.size() <= VirtioConsole::kMaxWriteBytes);
    parsers[port].push(bytes, [](const FrameHeader& header, std::span<const u8> payload) {
      require(header.length == payload.size() && payload.size() <= kMaxFramePayload);
    });
  });
  VirtioConsole& console = *made;
  FakeDriver driver(std::move(made), pool());
  if ((commands.flags & 2) != 0) driver.start({0, 1, 2, 3, 4, 5, 6, 7}, 2);
  u64 sent[VirtioConsole::kPorts] = {};
  while (commands.next()) {
    const unsigned op = commands.op % (kDriverOps + 1), port = 1 + commands.a % 2;
    if (op < kDriverOps) {
      drive(driver, commands, op, kQueues);
    } else if (console.pending(port) < 4096) {
      console.send(port, std::vector<u8>(commands.b % 512, 1));
      sent[port] += commands.b % 512;
    }
    // What waits came from the host: no guest makes it more.
    for (unsigned one = 0; one < VirtioConsole::kPorts; ++one) require(console.pending(one) <= sent[one]);
  }
  FakeDriver other(std::make_unique<VirtioConsole>([](unsigned, std::span<const u8>) {}), pool());
  require_same_state(driver.mmio, other.mmio);
  return 0;
}
