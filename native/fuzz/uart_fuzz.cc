// Any register access and typed bytes, against the serial port.
#include <algorithm>

#include "fuzz/support/commands.h"
#include "monitor/devices/uart.h"

using namespace shinken;
using namespace shinken::fuzz;

namespace {
constexpr unsigned kIrq = 10;
constexpr u8 kLoop = 0x10;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  QuietHost host, other_host;
  u64 written = 0, sent = 0, typed = 0, taken = 0;
  Uart uart(&host, kIrq, [&](u8) { ++sent; });
  Commands commands(data, size);
  while (commands.next()) {
    switch (commands.op % 5) {
      case 0:
        ++written;
        uart.write(commands.a % 9, 1, commands.b);
        break;
      case 1: {
        u64 value = 0;
        if (uart.read(commands.a % 9, 1, &value)) require(value < 256);
        break;
      }
      case 2: {
        const std::vector<u8> bytes(commands.b % (Uart::kMaxInput + 2), static_cast<u8>(commands.a));
        if (uart.receive(bytes)) typed += bytes.size();
        break;
      }
      case 3:
        if (uart.take() >= 0) ++taken;
        break;
      case 4: {
        u64 value = 0;
        const unsigned width = 2u << commands.op / 5 % 3;
        require(!uart.read(commands.b % Uart::kWindow, width, &value));
        require(!uart.write(commands.b % Uart::kWindow, width, commands.a));
        break;
      }
    }
    // One byte leaves for one write at most, and in loop-back none; input is bounded whoever sends it.
    require(sent <= written);
    static const std::vector<u8> too_much(Uart::kMaxInput + 1);
    require(!uart.receive(too_much));
  }
  require(taken <= typed + written);
  Uart other(&other_host, kIrq, [](u8) {});
  require_same_state(uart, other);
  uart.write(4, 1, kLoop);
  const u64 before = sent;
  uart.write(3, 1, 0), uart.write(0, 1, 'x');
  require(sent == before);
  return 0;
}
