// Lines, edges, claims and any register access, against the interrupt controller.
#include "fuzz/support/commands.h"
#include "monitor/devices/plic.h"

using namespace shinken;
using namespace shinken::fuzz;

namespace {

constexpr u64 kPending = 0x1000, kEnable = 0x2000, kThreshold = 0x200000, kClaim = 0x200004;

u32 word(Plic& plic, u64 offset) {
  u64 value = 0;
  require(plic.read(offset, 4, &value));
  return static_cast<u32>(value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  bool raised = false;
  Plic plic([&](bool level) { raised = level; });
  constexpr u64 kPlaces[] = {kPending, kEnable, kThreshold, kClaim};
  Commands commands(data, size);
  while (commands.next()) {
    const u64 anywhere = (u64{commands.a} << 8 | commands.b >> 24) % Plic::kWindow;
    const u64 place = commands.a % 2 != 0 ? kPlaces[commands.a / 2 % 4] : 4 * u64{commands.a / 2u % 40u};
    switch (commands.op % 6) {
      case 0:
        require(plic.write(place, 4, commands.b));
        break;
      case 1:
        plic.set_level(1 + commands.a % 31, commands.b % 2 != 0);
        break;
      case 2:
        plic.pulse(1 + commands.a % 31);
        break;
      case 3: {  // a claim takes what is pending and enabled, exactly if the hart was told that there is any
        const u32 may = word(plic, kPending) & word(plic, kEnable);
        const bool told = raised;
        const u32 source = word(plic, kClaim);
        require((source != 0) == told && source < Plic::kSources);
        require(source == 0 || (may >> source & 1) != 0);
        break;
      }
      case 4: {
        u64 value = 0;
        if (plic.read(anywhere, 1u << commands.op / 6 % 4, &value)) require(value >> 32 == 0);
        break;
      }
      case 5:
        plic.write(anywhere, 1u << commands.op / 6 % 4, commands.b);
        break;
    }
    require((word(plic, kEnable) & 1) == 0 && word(plic, 0) == 0);
  }
  bool other_raised = false;
  Plic other([&](bool level) { other_raised = level; });
  require_same_state(plic, other);
  require(other_raised == raised);
  return 0;
}
