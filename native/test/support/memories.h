#pragma once
// Both kinds of guest memory, for tests that hold them to the same.
#include <doctest/doctest.h>

#include "monitor/memory/map_memory.h"
#include "monitor/memory/soft_memory.h"

namespace shinken::test {

/// What the present test is to make its memories and machines with.
inline MemoryKind memory_under_test = MemoryKind::kSoft;

inline std::unique_ptr<MachineMemory> fresh_memory(const std::shared_ptr<PagePool>& pool, u64 pages) {
  if (memory_under_test == MemoryKind::kMap) return std::make_unique<MapMemory>(pool, pages);
  return std::make_unique<SoftMemory>(pool, pages);
}

inline std::unique_ptr<MachineMemory> forked_memory(const std::shared_ptr<const MemoryImage>& image) {
  return fork_memory(memory_under_test, image);
}

/// False, with the reason in the output, where the host has no flat memory.
inline bool host_has_flat_memory() {
  try {
    Userfault::shared();
    return true;
  } catch (const std::exception& error) {
    MESSAGE("skipped: ", error.what());
    return false;
  }
}

}  // namespace shinken::test

/// A test case whose body runs twice, once with each kind as `memory_under_test`.
#define TEST_ON_BOTH_MEMORIES_(body, name)                           \
  static void body();                                                \
  TEST_CASE(name) {                                                  \
    SUBCASE("soft memory") {                                         \
      shinken::test::memory_under_test = shinken::MemoryKind::kSoft; \
      body();                                                        \
    }                                                                \
    SUBCASE("uffd memory") {                                         \
      if (!shinken::test::host_has_flat_memory()) return;            \
      shinken::test::memory_under_test = shinken::MemoryKind::kMap;  \
      body();                                                        \
    }                                                                \
    shinken::test::memory_under_test = shinken::MemoryKind::kSoft;   \
  }                                                                  \
  static void body()
#define TEST_ON_BOTH_MEMORIES(name) TEST_ON_BOTH_MEMORIES_(DOCTEST_ANONYMOUS(on_both_memories_), name)
