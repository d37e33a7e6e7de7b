#pragma once
// A host that refuses: what the process may have, lowered for a while to what it has.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace shinken::test {

/// Lowers one soft limit of the process until its end.
class LoweredLimit {
 public:
  LoweredLimit(int what, rlim_t to) : what_(what) {
    REQUIRE(getrlimit(what_, &before_) == 0);
    const rlimit lower{to, before_.rlim_max};
    REQUIRE(setrlimit(what_, &lower) == 0);
  }
  ~LoweredLimit() { setrlimit(what_, &before_); }
  LoweredLimit(const LoweredLimit&) = delete;
  LoweredLimit& operator=(const LoweredLimit&) = delete;

 private:
  const int what_;
  rlimit before_{};
};

/// No descriptor more than there are.
struct NoMoreFiles : LoweredLimit {
  NoMoreFiles() : LoweredLimit(RLIMIT_NOFILE, next()) {}

 private:
  static rlim_t next() {
    const int lowest = dup(STDIN_FILENO);
    REQUIRE(lowest >= 0);
    close(lowest);
    return static_cast<rlim_t>(lowest);
  }
};

/// No mapping more than there are.
struct NoMoreMappings : LoweredLimit {
  NoMoreMappings() : LoweredLimit(RLIMIT_AS, 1) {}
};

/// The process's mappings of files in memory.
inline unsigned memory_file_mappings() {
  std::ifstream maps("/proc/self/maps");
  unsigned count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("/memfd:") != std::string::npos;
  return count;
}

}  // namespace shinken::test
