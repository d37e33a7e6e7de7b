// Programs that lie about themselves, and device trees of any arguments, read back by an independent reader.
#include "fuzz/support/pool.h"
#include "monitor/base/error.h"
#include "monitor/machine/loader.h"
#include "monitor/memory/soft_memory.h"
#include "test/support/fdt_reader.h"

using namespace shinken;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  SoftMemory memory(fuzz::pool(), 64 << 20 >> kPageShift);
  try {
    const Loaded loaded = load_program(memory, {data, size});
    if (!memory.contains(loaded.entry, 2)) __builtin_trap();
    DeviceTreeInput input;
    input.memory_bytes = memory.size();
    for (std::size_t i = 0; i < size && i < 2000; ++i) {
      if (data[i] != 0) input.bootargs += static_cast<char>(data[i]);
    }
    input.virtio_devices = static_cast<unsigned>(size % 6);
    const test::FdtReader tree(build_device_tree(input));
    if (!tree.ok() || tree.text("/chosen", "bootargs") != input.bootargs) __builtin_trap();
    load_blobs(memory, loaded.end, {data, size}, input);
  } catch (const MonitorError&) {
  }
  return 0;
}
