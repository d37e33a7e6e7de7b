#pragma once
// What the tests of flat memories have in common.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>

#include "monitor/memory/map_memory.h"
#include "test/support/machines.h"

namespace shinken::test {

inline constexpr u64 kPages = 2 * kPagesPerMid;
inline constexpr ForkOptions kOnSoft{ForkKind::kGrade, {}, {}, MemoryKind::kSoft};
inline constexpr ForkOptions kOnMap{ForkKind::kGrade, {}, {}, MemoryKind::kMap};

inline void put(GuestMemory& memory, u64 page, u8 value) {
  std::memset(memory.page_for_write(page), value, kPageSize);
}

/// An image whose first `count` pages hold something.
inline std::shared_ptr<const MemoryImage> image_with(u64 count) {
  MapMemory memory(std::make_shared<PagePool>(), kPages);
  for (u64 page = 0; page < count; ++page) put(memory, page, static_cast<u8>(1 + page % 200));
  return memory.freeze();
}

inline bool host_has(bool (Userfault::*what)() const) {
  return (*Userfault::shared().*what)();
}

}  // namespace shinken::test

/// A test case that is skipped, with the reason, where the host has no flat memory.
#define MAP_TEST_CASE_(body, name)      \
  static void body();                   \
  TEST_CASE(name) {                     \
    if (host_has_flat_memory()) body(); \
  }                                     \
  static void body()
#define MAP_TEST_CASE(name) MAP_TEST_CASE_(DOCTEST_ANONYMOUS(on_flat_memory_), name)
