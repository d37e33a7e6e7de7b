#include "monitor/machine/machine_run.h"

#include "monitor/machine/machine.h"

namespace shinken {

MachineRunOutcome machine_run(const MachineRunOptions& options) {
  MachineConfig config;
  config.memory_mib = options.memory_mib;
  config.program = options.program;
  config.initrd = options.initrd;
  config.bootargs = options.append;
  config.disks = options.disks;
  const auto machine = Machine::create(config);
  machine->set_console(options.console);
  RunRequest request;
  request.max_instructions = options.max_instructions;
  request.collect_frames = false;
  const RunResult result = machine->run(std::move(request));
  MachineRunOutcome outcome{1, result.instret, result.ticks, result.detail};
  switch (result.reason) {
    case StopReason::kShutdown:
      outcome.exit_code = 0;
      break;
    case StopReason::kReboot:
      outcome.exit_code = 0;
      outcome.detail = "the guest asked for a reboot";
      break;
    case StopReason::kFailure:
      outcome.detail = "the guest reported a system failure";
      break;
    case StopReason::kInstructionLimit:
      outcome.exit_code = 2;
      outcome.detail = "instruction limit reached";
      break;
    case StopReason::kIdle:
      outcome.detail = "the guest waits for something that can never happen";
      break;
    default:
      outcome.detail = std::string("stopped: ") + stop_name(result.reason);
      break;
  }
  return outcome;
}

}  // namespace shinken
