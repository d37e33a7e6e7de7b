#include "monitor/memory/machine_memory.h"

#include "monitor/memory/map_memory.h"
#include "monitor/memory/soft_memory.h"

namespace shinken {

std::unique_ptr<MachineMemory> make_memory(MemoryKind kind, u64 pages) {
  auto pool = std::make_shared<PagePool>();
  if (kind == MemoryKind::kMap) return std::make_unique<MapMemory>(std::move(pool), pages);
  return std::make_unique<SoftMemory>(std::move(pool), pages);
}

std::unique_ptr<MachineMemory> fork_memory(MemoryKind kind, const std::shared_ptr<const MemoryImage>& image) {
  if (kind == MemoryKind::kMap) return std::make_unique<MapMemory>(image);
  return std::make_unique<SoftMemory>(*image);
}

}  // namespace shinken
