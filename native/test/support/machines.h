#pragma once
// Machines and requests that several tests make.
#include "monitor/machine/machine.h"
#include "test/support/memories.h"
#include "test/support/script_guest.h"
#include "test/support/temp_dir.h"

namespace shinken::test {

inline constexpr u32 kEchoPayload = 8;

inline std::shared_ptr<Machine> start(const TempDir& dir, const ScriptGuest& guest) {
  MachineConfig config;
  config.program = dir.write("guest.bin", guest.binary());
  config.memory_mib = kMinMemoryMiB;
  config.memory = memory_under_test;
  return Machine::create(config);
}

/// A machine whose agent port is open, parked in a wait for its first frame, that echoes `times` frames and
/// then waits for ever.
inline std::shared_ptr<Machine> start_echo(const TempDir& dir, u16 times) {
  auto machine = start(
      dir, ScriptGuest().open_agent_port().echo(kEchoPayload, times).wait16(ScriptGuest::data(0x7000), 1));
  machine->run({});
  return machine;
}

inline std::vector<u8> echo_frame(u32 stream, u8 fill = 0) {
  return frame(stream, 1, kFrameFinal, std::vector<u8>(kEchoPayload, fill));
}

/// Sends an echo frame and waits for its return.
inline RunRequest ask(u32 stream, u8 fill = 0) {
  RunRequest request;
  request.input.push_back({Port::kAgent, echo_frame(stream, fill)});
  request.await_stream = stream;
  return request;
}

}  // namespace shinken::test
