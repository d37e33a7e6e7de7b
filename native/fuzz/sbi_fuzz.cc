// Calls of the firmware with any extension, function and arguments.
#include <algorithm>
#include <array>

#include "fuzz/support/commands.h"
#include "monitor/devices/sbi.h"

using namespace shinken;
using namespace shinken::fuzz;

namespace {

struct Firmware final : SbiHost {
  GuestMemory& memory() override { return ram; }
  void console_write(std::span<const u8> bytes) override {
    // Every byte is read, so that the sanitizer sees a span that lies outside the memory.
    for (const u8 byte : bytes) sum += byte;
    written += bytes.size();
  }
  int console_read() override { return typed > 0 ? static_cast<int>(typed-- % 256) : -1; }
  void set_timer(u64) override {}
  void system_reset(u32 type, u32 reason) override { require(type <= 2 && reason <= 1); }

  static constexpr u64 kPages = 64;
  SoftMemory ram{pool(), kPages};
  u64 written = 0, sum = 0, typed = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  constexpr u64 kExtensions[] = {0x10, 0x54494d45, 0x53525354, 0x4442434e, 0, 1, 2, 8, 0x735049, 0x48534d};
  constexpr u64 kEnd = kRamBase + Firmware::kPages * kPageSize;
  constexpr u64 kEdges[] = {0,          kRamBase, kEnd, ~u64{0}, u64{1} << 63, kRamBase + kPageSize,
                            0x10000000, 64 * 1024};
  Firmware firmware;
  Commands commands(data, size);
  std::array<u64, 6> args{};
  while (commands.next()) {
    // Arguments are set one by one and stay: near an edge, or anything.
    if (commands.op % 4 != 0) {
      const u64 offset = static_cast<u64>(static_cast<i32>(commands.b));
      args[commands.a % 6] = commands.op % 4 == 1 ? kEdges[commands.a / 6 % 8] + offset % 65536
                                                  : kEdges[commands.a / 6 % 8] + offset;
      if (commands.op % 4 == 3) args[commands.a % 6] = commands.b;
      continue;
    }
    firmware.typed = std::min<u64>(firmware.typed + commands.b % 100, 100'000);
    firmware.written = 0;
    const u64 extension = commands.op < 200 ? kExtensions[commands.op / 4 % 10] : commands.b;
    const u64 function = commands.a % 4 == 3 ? commands.b : commands.a % 4;
    const SbiResult result = sbi_call(firmware, extension, function, args.data());
    require(firmware.written <= kMaxDebugConsoleBytes);
    if (extension == 2) {
      require(result.error >= -1 && result.error < 256);
    } else {
      require(result.error == 0 || result.error == -2 || result.error == -3 || result.error == -5);
    }
    // Legacy calls leave a1 alone.
    if (extension <= 2 || extension == 8) require(static_cast<u64>(result.value) == args[1]);
  }
  return 0;
}
