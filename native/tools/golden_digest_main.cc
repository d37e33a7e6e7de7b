// golden-digest GOLDEN [--disk FILE=IDENTITY]... [--memory soft|uffd] [--manner whole|pieces|steps] --points
// N,N,... Forks a golden bit-identically, runs it, and prints its state digest after so many instructions,
// one line each: instructions, digest, seconds. `whole` runs from point to point at once; `pieces` cuts the
// way at odd places, takes stretches step by step, and goes on in a fork at every point; `steps` runs every
// instruction alone. scripts/proof-digest.mjs compares what comes of it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "monitor/machine/machine.h"

namespace {

using namespace shinken;

constexpr int kUsageError = 64;
constexpr u64 kStretch = 20'000, kOddest = 20'000'000;

enum class Manner : u8 { kWhole, kPieces, kSteps };

struct Options {
  std::string golden;
  GoldenLoad load;
  MemoryKind memory = MemoryKind::kSoft;
  Manner manner = Manner::kWhole;
  std::vector<u64> points;
};

int usage(const char* why) {
  std::fprintf(stderr,
               "golden-digest: %s\nusage: golden-digest GOLDEN [--disk FILE=IDENTITY]... [--memory soft|uffd]"
               " [--manner whole|pieces|steps] --points N,N,...\n",
               why);
  return kUsageError;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name.rfind("--", 0) != 0) {
      options.golden = name;
      continue;
    }
    if (++i >= argc) return false;
    const std::string value = argv[i];
    if (name == "--disk") {
      const std::size_t sign = value.rfind('=');
      if (sign == std::string::npos) return false;
      options.load.disks.push_back({value.substr(0, sign), value.substr(sign + 1), false});
    } else if (name == "--memory" && (value == "soft" || value == "uffd")) {
      options.memory = value == "soft" ? MemoryKind::kSoft : MemoryKind::kMap;
    } else if (name == "--manner" && (value == "whole" || value == "pieces" || value == "steps")) {
      options.manner = value == "whole"    ? Manner::kWhole
                       : value == "pieces" ? Manner::kPieces
                                           : Manner::kSteps;
    } else if (name == "--points") {
      for (const char* text = value.c_str(); *text != '\0';) {
        char* end;
        options.points.push_back(std::strtoull(text, &end, 10));
        if (end == text) return false;
        text = *end == ',' ? end + 1 : end;
      }
    } else {
      return false;
    }
  }
  return !options.golden.empty() && !options.points.empty();
}

/// Runs so many instructions, in slices of `step`. Throws std::runtime_error if the guest ends before.
void advance(Machine& machine, u64 instructions, u64 step) {
  RunRequest request;
  request.max_instructions = instructions;
  request.collect_frames = false;
  machine.begin(std::move(request));
  while (machine.slice(step).state != SliceResult::State::kDone) {
  }
  const RunResult result = machine.finish();
  if (result.reason == StopReason::kInstructionLimit) return;
  throw std::runtime_error(std::string("the guest stopped: ") + stop_name(result.reason));
}

void run_to(Machine& machine, u64 goal, Manner manner, std::mt19937_64& random) {
  u64 at = machine.stats().instret;
  if (manner != Manner::kPieces) {
    if (at < goal) advance(machine, goal - at, manner == Manner::kSteps ? 1 : ~u64{0});
    return;
  }
  const u64 stretch = std::min(goal - at, kStretch);
  const u64 stepping = goal - stretch - random() % (goal - at - stretch + 1);
  while (at < goal) {
    u64 piece = std::min(goal - at, 1 + random() % kOddest);
    u64 step = 1 + random() % kOddest;
    if (at < stepping) {
      piece = std::min(piece, stepping - at);
    } else if (at < stepping + stretch) {
      piece = std::min(piece, stepping + stretch - at);
      step = 1;
    }
    advance(machine, piece, step);
    at += piece;
  }
}

void run(const Options& options) {
  const auto golden = Golden::load(options.golden, options.load);
  golden->decode_code();
  auto machine = Machine::fork(golden, {.kind = ForkKind::kGrade, .memory = options.memory});
  std::mt19937_64 random(4711);
  const u64 first = machine->stats().instret;
  const auto started = std::chrono::steady_clock::now();
  for (const u64 point : options.points) {
    run_to(*machine, first + point, options.manner, random);
    const std::string digest = machine->digest().hex();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    std::printf("%llu %s %.1f\n", static_cast<unsigned long long>(machine->stats().instret - first),
                digest.c_str(), took.count());
    std::fflush(stdout);
    if (options.manner != Manner::kPieces) continue;
    const auto frozen = machine->freeze();
    machine->close();
    machine = Machine::fork(frozen, {.kind = ForkKind::kGrade, .memory = options.memory});
  }
  machine->close();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return usage("an option is unknown or lacks its value");
  try {
    run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "golden-digest: %s\n", error.what());
    return 1;
  }
}
