#pragma once
// Host pages for the guests of all inputs: to make a pool for each would take most of the time. A page is
// cleared before a guest sees it, so an input still finds the same whatever came before it.
#include "monitor/memory/page_pool.h"

namespace shinken::fuzz {

inline const std::shared_ptr<PagePool>& pool() {
  static const auto made = std::make_shared<PagePool>();
  return made;
}

}  // namespace shinken::fuzz
