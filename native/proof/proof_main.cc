// proof --instructions N [--seed S] [--journal FILE] [--only KIND:NUMBER]
// Holds the hart and the machine to QEMU over at least so many random instructions: batches of user programs,
// of fragments under Sv39 and of interrupts at every offset. Prints a line a batch and a total; exit 1 on a
// mismatch, with what reproduces it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "monitor/base/digest.h"
#include "proof/journal.h"

namespace {

using namespace shinken;
using namespace shinken::proof;

constexpr int kUsageError = 64;

struct Options {
  u64 instructions = 10'000'000;
  u64 seed = 1;
  std::string journal;
  std::string only;
};

int usage(const char* why) {
  std::fprintf(
      stderr, "proof: %s\nusage: proof [--instructions N] [--seed S] [--journal FILE] [--only KIND:NUMBER]\n",
      why);
  return kUsageError;
}

/// A digest of this executable.
std::string build_of() {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  return hash_bytes({reinterpret_cast<const u8*>(bytes.data()), bytes.size()}).hex();
}

struct Sum {
  Counts counts;
  u64 traps = 0, interrupts = 0, mismatches = 0, batches = 0;
  void add(const BatchResult& result) {
    counts.add(result.counts);
    traps += result.traps;
    interrupts += result.interrupts;
    mismatches += result.mismatches;
    ++batches;
  }
};

BatchResult run_and_tell(Kind kind, u64 number, u64 seed) {
  const auto started = std::chrono::steady_clock::now();
  const BatchResult result = run_batch(kind, seed << 32 | number);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  std::printf(
      "%s:%llu  %llu instructions, %llu traps, %llu interrupts, %llu mismatches, %.1f s\n", name_of(kind),
      static_cast<unsigned long long>(number), static_cast<unsigned long long>(result.counts.total()),
      static_cast<unsigned long long>(result.traps), static_cast<unsigned long long>(result.interrupts),
      static_cast<unsigned long long>(result.mismatches), took.count());
  if (result.mismatches != 0) {
    std::printf("%s\nreproduce: make -C native proof SEED=%llu ONLY=%s:%llu\n", result.explanation.c_str(),
                static_cast<unsigned long long>(seed), name_of(kind),
                static_cast<unsigned long long>(number));
  }
  std::fflush(stdout);
  return result;
}

void print(const Sum& sum) {
  std::printf("proof: %llu batches, %llu random instructions (", static_cast<unsigned long long>(sum.batches),
              static_cast<unsigned long long>(sum.counts.total()));
  for (unsigned i = 0; i < kExtensions; ++i) {
    std::printf("%s%s %llu", i == 0 ? "" : ", ", kExtensionNames[i],
                static_cast<unsigned long long>(sum.counts.by_extension[i]));
  }
  std::printf("), rounded");
  for (unsigned i = 0; i < 8; ++i) {
    std::printf(" %s %llu", kRoundingNames[i], static_cast<unsigned long long>(sum.counts.by_rounding[i]));
  }
  std::printf("; %llu traps, %llu interrupts; %llu mismatches\n", static_cast<unsigned long long>(sum.traps),
              static_cast<unsigned long long>(sum.interrupts),
              static_cast<unsigned long long>(sum.mismatches));
}

int run(const Options& options) {
  Sum sum;
  if (!options.only.empty()) {
    const std::size_t colon = options.only.find(':');
    for (const Kind kind : kKinds) {
      if (colon == std::string::npos || options.only.substr(0, colon) != name_of(kind)) continue;
      const u64 number = std::strtoull(options.only.c_str() + colon + 1, nullptr, 10);
      sum.add(run_and_tell(kind, number, options.seed));
    }
    if (sum.batches == 0) return usage("--only takes user:N, system:N or interrupts:N");
  } else {
    Journal journal(options.journal.empty() ? "/dev/null" : options.journal, build_of());
    for (u64 number = 0; sum.counts.total() < options.instructions; ++number) {
      for (const Kind kind : kKinds) {
        if (const BatchResult* done = journal.find(kind, number)) {
          sum.add(*done);
          continue;
        }
        const BatchResult result = run_and_tell(kind, number, options.seed);
        journal.add(kind, number, result);
        sum.add(result);
      }
    }
  }
  print(sum);
  return sum.mismatches == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--instructions") {
      options.instructions = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "--seed") {
      options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "--journal") {
      options.journal = argv[i + 1];
    } else if (name == "--only") {
      options.only = argv[i + 1];
    } else {
      return usage("unknown option");
    }
  }
  if (argc % 2 == 0) return usage("an option without its value");
  if (options.instructions == 0) return usage("--instructions takes a number above 0");
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "proof: %s\n", error.what());
    return 1;
  }
}
