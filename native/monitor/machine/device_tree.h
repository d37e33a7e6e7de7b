#pragma once
// The device tree of our board.
#include <array>
#include <string>
#include <vector>

#include "monitor/base/types.h"

namespace shinken {

struct DeviceTreeInput {
  u64 memory_bytes = 0;
  std::string bootargs;
  u64 initrd_begin = 0, initrd_end = 0;  // physical; equal: none
  std::array<u8, 32> rng_seed{};         // zeros: none
  unsigned virtio_devices = 0;           // console and disks; the network card is always there
};

std::vector<u8> build_device_tree(const DeviceTreeInput& input);

}  // namespace shinken
