#pragma once
// The inside of Machine: parts, the state of the present run, and what other threads may touch.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "monitor/cpu/code_page.h"
#include "monitor/machine/board.h"
#include "monitor/machine/machine.h"
#include "monitor/memory/machine_memory.h"

namespace shinken {

/// One run request and how far it has come.
struct RunState {
  RunRequest request;
  RunResult result;
  u64 first_instret = 0, first_ticks = 0;
  u64 instret_limit = 0, ticks_limit = 0;  // absolute, ~0 if none
  bool replied = false;
  u64 park_limit = ~u64{0};
  u64 collected = 0;
  bool output_limit = false;
  bool done = false;
  // Realtime: when the present wait began, if the hart waits.
  std::optional<std::chrono::steady_clock::time_point> wait_began;
  // Realtime: whether that wait is for somebody outside, too.
  bool wait_expects = true;
};

struct Machine::Impl final : BoardListener {
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned kConsolePort = 0;  // in `posted`: the UART

  struct Posted {
    unsigned port;
    std::vector<u8> bytes;
  };

  ~Impl() override;
  void assemble(std::unique_ptr<MachineMemory> ram, std::shared_ptr<const SharedBlocks> shared);
  std::vector<u8> save_state() const;
  std::unique_ptr<Golden::Impl> golden_parts() const;
  /// False: the bytes are no state of this board.
  bool load_state(std::span<const u8> bytes);
  void check_at_rest() const;  // throws kBusy, kClosed

  // run_loop.cc
  void begin(RunRequest request);
  /// Not beyond `horizon`, in guest ticks.
  SliceResult slice(u64 instructions, u64 horizon = ~u64{0});
  std::optional<StopReason> stop_reason(u64 instret, u64 ticks);
  std::optional<SliceResult> idle(u64 horizon);
  SliceResult stop(StopReason reason);
  void take_posted();
  void publish();
  u64 time() const { return board->now(); }

  // BoardListener
  void on_console(std::span<const u8> bytes) override;
  void on_frame(unsigned port, const FrameHeader& header, std::span<const u8> payload) override;
  bool on_packet(std::span<const u8> frame) override;

  bool post(unsigned port, std::span<const u8> bytes);
  void notify_outside();

  // Parts, in order of construction. The hart observes the memory and is gone before it.
  std::vector<std::shared_ptr<DiskFile>> disks;
  std::unique_ptr<MachineMemory> memory;
  std::unique_ptr<Board> board;
  std::unique_ptr<Hart> hart;
  std::shared_ptr<const SharedBlocks> code;  // what its hart shares
  std::shared_ptr<SharedCode> lineage;  // where its own forks look for that; null: a machine that was booted
  ConsoleSink console;
  std::optional<RunState> run;
  bool out_of_memory = false;
  bool closed = false;
  bool grading = false;
  // Held by whoever uses the machine between runs, and while a run begins or ends: `drop_caches` comes from
  // any thread, and keeps away.
  std::mutex rest;
  // While it is joined: its switch and its port there, and what its guest said while another's run took it
  // along.
  std::shared_ptr<Joint> joint;
  unsigned joint_port = 0;
  std::vector<Frame> kept;
  std::size_t kept_bytes = 0;

  // Any thread.
  mutable std::mutex mutex;
  std::condition_variable outside;
  std::deque<Posted> posted;
  u64 posted_bytes[VirtioConsole::kPorts] = {};
  std::function<void()> waker;
  bool open = true;  // not closed, as other threads see it
  NetCounters seen_net;
  PathCounters seen_paths;
  std::atomic<bool> cancelled{false};
  std::atomic<bool> yielding{false};
  std::atomic<bool> running{false};
  std::atomic<bool> realtime{false};
  std::atomic<bool> expecting{true};  // realtime: somebody may think before they write
  std::atomic<u64> seen_instret{0}, seen_ticks{0}, seen_dirty{0}, seen_hashed{0}, memory_bytes{0};
  std::atomic<u64> device_pending[VirtioConsole::kPorts] = {};
};

}  // namespace shinken
