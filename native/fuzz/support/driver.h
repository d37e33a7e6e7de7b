#pragma once
// A hostile driver of one virtio device: register writes, memory writes, notifications and time.
#include "fuzz/support/commands.h"
#include "test/support/fake_driver.h"

namespace shinken::fuzz {

/// What a driver may do to any device, by the command's `op` below kDriverOps.
inline constexpr unsigned kDriverOps = 7;

/// `queues`: how many of them the commands reach.
inline void drive(test::FakeDriver& driver, const Commands& command, unsigned op, unsigned queues) {
  using test::FakeDriver;
  const auto [a, b] = std::pair(command.a, command.b);
  switch (op) {
    case 0:
      return driver.set(a % 0x200 & ~3u, b);
    case 1:
      return driver.poke<u32>(kRamBase + 0x10000 + 4 * u64{a}, b);
    case 2:
      return driver.kick(a % (queues + 1));
    case 3:
      return driver.pass(b % 5000);
    case 4:
      return driver.descriptor(a % queues, a >> 3 & 7, FakeDriver::buffer(b % 100), b >> 8 & 0xffff,
                               a >> 6 & 3, a >> 8 & 7);
    case 5:
      return driver.offer(a % queues, static_cast<u16>(b % 9));
    default:
      driver.reg(a % 0x200);
  }
}

}  // namespace shinken::fuzz
