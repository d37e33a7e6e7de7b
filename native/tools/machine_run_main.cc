// machine-run FILE [--initrd F] [--append S] [--memory MiB] [--max-instructions N] [--disk F] [--stats]
// The plain executable of machine_run, for tests and engineers; people use `shinken machine run`.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "monitor/base/error.h"
#include "monitor/machine/machine_run.h"

namespace {

constexpr int kUsageError = 64;

int usage(const char* why) {
  std::fprintf(stderr,
               "machine-run: %s\nusage: machine-run FILE [--initrd F] [--append S] [--memory MiB]"
               " [--max-instructions N] [--disk F]... [--stats]\n",
               why);
  return kUsageError;
}

bool number(const char* text, unsigned long long* value) {
  char* end;
  *value = std::strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == '\0';
}

}  // namespace

int main(int argc, char** argv) {
  shinken::MachineRunOptions options;
  bool stats = false;
  for (int i = 1; i < argc; ++i) {
    const char* arg = argv[i];
    if (std::strcmp(arg, "--stats") == 0) {
      stats = true;
      continue;
    }
    if (std::strncmp(arg, "--", 2) != 0) {
      if (!options.program.empty()) return usage("one FILE only");
      options.program = arg;
      continue;
    }
    if (++i >= argc) return usage("an option without its value");
    const char* value = argv[i];
    unsigned long long n = 0;
    if (std::strcmp(arg, "--initrd") == 0) {
      options.initrd = value;
    } else if (std::strcmp(arg, "--append") == 0) {
      options.append = value;
    } else if (std::strcmp(arg, "--disk") == 0) {
      options.disks.push_back({value, "", false});
    } else if (std::strcmp(arg, "--memory") == 0 && number(value, &n)) {
      options.memory_mib = n;
    } else if (std::strcmp(arg, "--max-instructions") == 0 && number(value, &n)) {
      options.max_instructions = n;
    } else {
      return usage("unknown option or no number");
    }
  }
  if (options.program.empty()) return usage("no FILE");
  options.console = [](std::span<const shinken::u8> bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
  };
  try {
    const shinken::MachineRunOutcome outcome = shinken::machine_run(options);
    if (!outcome.detail.empty()) std::fprintf(stderr, "machine-run: %s\n", outcome.detail.c_str());
    if (stats) {
      std::fprintf(stderr, "machine-run: %llu instructions, %.3f s guest time\n",
                   static_cast<unsigned long long>(outcome.instret),
                   static_cast<double>(outcome.ticks) / shinken::kTicksPerSecond);
    }
    return outcome.exit_code;
  } catch (const shinken::MonitorError& error) {
    std::fprintf(stderr, "machine-run: %s\n", error.what());
    return kUsageError;
  }
}
