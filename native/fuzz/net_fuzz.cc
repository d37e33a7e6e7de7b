// A hostile driver of the network card, on a switch whose other port sends everything back.
// Input: {flags u8}, then commands of {op u8, a u16, b u32}, little-endian.
#include "fuzz/support/pool.h"
#include "monitor/devices/virtio_net.h"
#include "monitor/net/switch.h"
#include "test/support/fake_driver.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr std::size_t kCommandBytes = 7;
constexpr std::size_t kMaxCommands = 2000;
constexpr unsigned kCard = 0, kMirror = 1;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  if (size == 0) return 0;
  EthernetSwitch net(2);
  u64 now = 0;
  auto made =
      std::make_unique<VirtioNet>([&](std::span<const u8> frame) { return net.take(kCard, now, frame); });
  VirtioNet* card = made.get();
  FakeDriver driver(std::move(made), fuzz::pool());
  const auto pass = [&](u64 ticks) {
    now += ticks;
    driver.pass(ticks);
    std::vector<std::vector<u8>> back;
    net.drain([&](unsigned port, u64, std::span<const u8> frame) {
      if (port == kMirror) back.emplace_back(frame.begin(), frame.end());
    });
    for (const std::vector<u8>& frame : back) net.take(kMirror, now, frame);
    net.drain([&](unsigned port, u64 moment, std::span<const u8> frame) {
      if (port == kCard) card->receive(moment + now % 7, frame);
    });
  };
  if ((data[0] & 1) != 0)
    driver.start({VirtioNet::kReceiveQueue, VirtioNet::kTransmitQueue}, 1u << 5 | 1u << 16);
  ++data, --size;
  for (std::size_t n = 0; n < kMaxCommands && size >= kCommandBytes;
       ++n, data += kCommandBytes, size -= kCommandBytes) {
    const u16 a = load_le<u16>(data + 1);
    const u32 b = load_le<u32>(data + 3);
    switch (data[0] % 9) {
      case 0:
        driver.set(a % 0x200 & ~3u, b);
        break;
      case 1:
        driver.poke<u32>(kRamBase + 0x10000 + 4 * u64{a}, b);
        break;
      case 2:
        driver.kick(a % 3);
        break;
      case 3:
        pass(b % 5000);
        break;
      case 4:
        driver.descriptor(a % 2, a >> 3 & 7, FakeDriver::buffer(b % 100), b >> 8 & 0xffff, a >> 6 & 3,
                          a >> 8 & 7);
        break;
      case 5:
        driver.offer(a % 2, static_cast<u16>(b % 9));
        break;
      case 6:
        driver.reg(a % 0x200);
        break;
      case 7:
        card->receive(b, std::vector<u8>(a % 1600, static_cast<u8>(b)));
        break;
      case 8:
        card->set_link((a & 1) != 0);
        break;
    }
  }
  const NetCounters& counters = card->counters();
  if (counters.sent_bytes > counters.sent_frames * VirtioNet::kMaxFrameBytes) __builtin_trap();
  if (counters.received_bytes > counters.received_frames * VirtioNet::kMaxFrameBytes) __builtin_trap();
  // Whatever state it came to can be saved and loaded.
  ByteWriter saved;
  driver.mmio.save(saved);
  const std::vector<u8> bytes = saved.take();
  ByteReader from(bytes);
  driver.mmio.load(from);
  if (!from.ok() || !from.at_end()) __builtin_trap();
  return 0;
}
