#pragma once
// What to run a machine for, and why it stopped.
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "monitor/base/types.h"
#include "monitor/devices/frame.h"

namespace shinken {

/// Ports of the virtio console, found in the guest by name: `org.shinken.agent` and `org.shinken.grader`.
enum class Port : u8 { kAgent = 1, kGrader = 2 };

/// Bytes for the guest that may wait in the monitor, per port; `post_input` refuses more.
inline constexpr u64 kMaxPendingInput = 16 * 1024 * 1024;
/// A machine that has answered runs on to its next WFI, at most this many instructions, and parks.
inline constexpr u64 kDefaultParkBudget = 2'000'000;

/// What a frame that is kept is charged beside its payload: about what holding it costs, which for millions
/// of empty frames is all there is. A command that writes a mebibyte byte by byte has its place within 64
/// MiB.
inline constexpr u64 kFrameOverhead = 48;

struct Frame {
  Port port;
  FrameHeader header;
  std::vector<u8> payload;
};

/// Something that entered from outside while the machine was running; what a replay has to do again.
struct OutsideEvent {
  u64 instret;
  u64 ticks;  // guest time: instret + skipped
  Port port;
  std::vector<u8> bytes;
};

struct RunRequest {
  /// Bytes (whole frames) to give to a port before the first instruction, in order.
  struct Input {
    Port port = Port::kAgent;
    std::vector<u8> bytes;
  };
  std::vector<Input> input;

  /// Stop once a frame with kFrameFinal of this stream came out of `await_port`, at the following WFI.
  std::optional<u32> await_stream;
  Port await_port = Port::kAgent;
  u64 park_budget = kDefaultParkBudget;

  /// Limits counted from the start of this run; 0 means none.
  u64 max_instructions = 0;
  u64 max_guest_ticks = 0;

  /// A terminal, streamed stdin or a gateway is open: WFI waits in host time, and `post_input` enters at
  /// once.
  bool realtime = false;

  /// Keep output frames in RunResult::frames (at most `max_collected_bytes`, then the run stops with
  /// kOutputLimit).
  bool collect_frames = true;
  u64 max_collected_bytes = 64 * 1024 * 1024;
  /// Called on the thread that runs the machine for every output frame; the payload is valid during the call
  /// only.
  std::function<void(Port, const FrameHeader&, std::span<const u8> payload)> on_frame;
  /// Called on the thread that runs the machine when bytes entered that `post_input` had queued: before the
  /// first instruction (inside `begin`), or in mid-run if realtime. Together with `input` it is all that a
  /// replay needs.
  std::function<void(const OutsideEvent&)> on_event;
};

enum class StopReason : u8 {
  kReply,             // the awaited stream ended, and the machine parked
  kIdle,              // WFI, and nothing can ever happen any more
  kInstructionLimit,  // max_instructions reached, exactly
  kGuestTimeLimit,    // max_guest_ticks reached, exactly
  kShutdown,          // SBI system reset: shutdown, reason none
  kReboot,            // SBI system reset: reboot, reason none; a panic under `panic=-1` ends here
  kFailure,           // SBI system reset, reason system failure (a panic)
  kCancelled,         // `cancel()`; `instret` says where
  kProtocol,          // the guest wrote bytes that are no frame; the port is dead
  kOutputLimit,       // more output than max_collected_bytes
  kHostMemory,        // the host refused memory in mid-run; the machine can only be closed
};

/// Stable lower-case name, e.g. "instruction_limit".
const char* stop_name(StopReason reason);

struct RunResult {
  StopReason reason = StopReason::kIdle;
  /// True if the hart stands in WFI: a good moment to freeze.
  bool parked = false;
  u64 instret = 0;  // since power-on
  u64 ticks = 0;    // guest time since power-on, 2 ns each
  u64 run_instructions = 0;
  u64 run_ticks = 0;
  std::vector<Frame> frames;
  /// One line for people, e.g. which port broke the protocol and how.
  std::string detail;
};

}  // namespace shinken
