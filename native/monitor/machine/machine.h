#pragma once
// One microVM: memory, hart, board. The public face of the monitor, with golden.h and engine.h.
//
//   auto machine = Machine::create(config);             // or Machine::fork(golden, options)
//   RunResult r = machine->run(request);                // or engine->submit(machine, request, done)
//   auto golden = machine->freeze();                    // immutable; the machine goes on
//   auto child  = Machine::fork(golden, {ForkKind::kReplica, id});
//
// Threads: every method is to be called by one thread at a time and not during a run, except `post_input`,
// `cancel`, `cancelled`, `yield`, `running`, `stats` and `drop_caches`, which any thread may call at any
// time. Joined machines count as one.
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "monitor/base/digest.h"
#include "monitor/base/error.h"
#include "monitor/machine/config.h"
#include "monitor/machine/run.h"
#include "monitor/memory/machine_memory.h"
#include "monitor/snapshot/golden.h"

namespace shinken {

enum class ForkKind : u8 {
  kReplica,  // new generation ID and its interrupt before the first instruction
  kBranch,   // as kReplica; the agent gets no new setup
  kGrade,    // a bit-identical continuation: nothing is changed
  kResume,   // the same, of the priority of ordinary machines
};

struct ForkOptions {
  ForkKind kind = ForkKind::kReplica;
  /// Must differ between siblings; unused by kGrade and kResume.
  std::array<u8, 16> generation_id{};
  /// New address in the network card's configuration, which the agent makes the guest use; unused by kGrade
  /// and kResume.
  /// None: the parent's.
  std::optional<MacAddress> mac = {};
  /// None: that of the machine that was frozen. What a guest does, and its digests, do not depend on it.
  std::optional<MemoryKind> memory = {};
};

/// A hart looks for requests from outside at least this often, and after every access to a device.
inline constexpr u64 kNoticeInstructions = u64{1} << 14;

struct MachineStats {
  u64 instret;
  u64 ticks;          // guest time, 2 ns each
  u64 memory_bytes;   // size of RAM
  u64 private_bytes;  // RAM bytes that this machine alone wrote since it was forked or last frozen
  u64 pending_input;  // bytes waiting for the guest, all ports
  u64 hashed_pages;   // by digests and, with flat memory, checkpoints
  PathCounters paths;
  NetCounters net;
};

/// Outcome of one slice of a run (see `slice`).
struct SliceResult {
  enum class State : u8 {
    kDone,
    kRunnable,
    kWaiting,
    kAtHorizon,  // inside a joint only: the others must catch up first
  } state;
  /// kWaiting (realtime only): host nanoseconds until the guest's next deadline; ~0 if it has none.
  u64 wait_ns;
};

class Joint;
class LiveFreeze;
class Machine;

/// A golden in the making: the state of the moment at which `Machine::snapshot` was called.
class LiveSnapshot final {
 public:
  ~LiveSnapshot();
  /// From any thread, once, while the machine goes on. Throws kNoMemory.
  std::shared_ptr<Golden> finish();

 private:
  friend class Machine;
  LiveSnapshot(std::shared_ptr<Machine> machine, std::unique_ptr<LiveFreeze> memory,
               std::shared_ptr<Golden> golden);
  std::shared_ptr<Machine> machine_;
  std::unique_ptr<LiveFreeze> memory_;
  std::shared_ptr<Golden> golden_;
};

class Machine final {
 public:
  /// Loads the program and builds the board; nothing has run yet. Throws MonitorError.
  static std::shared_ptr<Machine> create(const MachineConfig& config);
  /// Microseconds; shares all memory with `golden`, which it holds. Throws MonitorError (kNoMemory).
  static std::shared_ptr<Machine> fork(const std::shared_ptr<const Golden>& golden,
                                       const ForkOptions& options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs on the calling thread until a stop reason. Throws kBusy, kClosed, or kInvalidConfig (input too
  /// large).
  RunResult run(RunRequest request);

  /// The same in pieces, for schedulers: `begin` takes the request, `slice` runs at most `instructions` of
  /// it, and `finish` hands out the result after kDone. Where slices are cut never changes what the guest
  /// does.
  void begin(RunRequest request);
  SliceResult slice(u64 instructions);
  RunResult finish();
  /// Blocks for at most `ns` host nanoseconds, until input is posted or the run is cancelled.
  void wait_outside(u64 ns);

  /// Queues bytes (whole frames) for a port. Parked or not realtime: they enter with the next run. In a
  /// realtime run: at once, at an instruction count that `on_event` reports. False if more than
  /// kMaxPendingInput would wait, or closed.
  bool post_input(Port port, std::span<const u8> bytes);
  /// In a realtime run: nobody is waited for any more, so from here on idle waits are skipped. What is posted
  /// still enters at once.
  void expect_nobody();
  /// Stops the current run with kCancelled, within kNoticeInstructions of its hart; without a run, does
  /// nothing.
  void cancel();
  /// True from a cancel until the next run begins.
  bool cancelled() const;
  /// Ends the present slice early, within kNoticeInstructions; the run goes on with the next one. Without a
  /// slice under way the next one may be empty.
  void yield();
  bool running() const;

  /// Freezes the present state. The machine goes on as a copy-on-write child of the result. Costs
  /// microseconds; the digest is computed when first asked for. Throws kBusy, kClosed, kInvalidConfig (a
  /// writable disk).
  std::shared_ptr<Golden> freeze();
  /// True if `freeze` costs microseconds however much was written. Between runs.
  bool freezes_at_once() const;
  /// As `freeze`, for histories: costs the pages written since the last freeze or checkpoint, on flat memory
  /// too, and the result's digest is known at the price of hashing the pages in which it differs from
  /// `since`, an earlier frozen state of as much memory whose own digest is known. Null: of hashing all.
  /// `changed`: how many pages hold other bytes than in `since`. Throws as `freeze`.
  std::shared_ptr<Golden> checkpoint(const Golden* since, u64* changed);
  /// As `freeze`, also between two slices of a run, and the machine goes on at once while the result is
  /// finished elsewhere; it stays a child of its former golden. One at a time (kBusy), and before `close`.
  /// With flat memory the pause protects the dirty pages instead of copying them.
  static std::unique_ptr<LiveSnapshot> snapshot(const std::shared_ptr<Machine>& machine);
  /// State digest: registers, devices, pending events, counters, memory. Equal means bit-identical. Costs a
  /// hash of the pages written since the last digest; the first one, of those written since the fork or the
  /// last freeze, and a look at the sums of the rest (at all of it, if their hashes were never asked for).
  Digest digest();
  /// Gives the decoded code of this machine, a fork of `golden` that has run, to golden's later forks.
  void share_code_with(Golden& golden);

  /// Joins machines by a switch of their own: what one sends, the others receive. From here on they stand at
  /// one guest time: a run of one takes the others along, and only one of them may have a run. They part by
  /// `part` or `close`; forks of them are not joined. Throws kInvalidConfig (fewer than 2, more than
  /// EthernetSwitch::kMaxPorts, one twice or already joined), kBusy, kClosed.
  static void join(const std::vector<std::shared_ptr<Machine>>& machines);
  /// Leaves the switch; frames go nowhere again. Does nothing if it is not joined. Throws kBusy.
  void part();
  bool joined() const;
  /// Plugs the network cable in, or pulls it out. Throws kBusy, kClosed.
  void set_link(bool up);

  MachineStats stats() const;
  /// None by default, in forks too. Replaces the former sink.
  void set_console(ConsoleSink sink);
  /// Bytes for the UART's receiver, as typed on a serial line; enter with the next run, or at once if
  /// realtime.
  bool post_console_input(std::span<const u8> bytes);
  /// True if the guest has opened the port.
  bool port_open(Port port) const;

  /// Frees everything now. Idempotent; a running machine is to be cancelled and finished first (kBusy).
  void close();

  /// A grade fork, or the fork of one.
  bool grading() const;
  /// Host bytes of the code that this machine decoded and translated for itself. Between runs.
  u64 cache_bytes() const;
  /// Lets go of those bytes, if the machine is at rest, not joined and in nobody's hands; what it does later
  /// is the same, but its next run decodes anew. Any thread, at any time. False if that was not the moment.
  bool drop_caches();

  /// Calls `wake` (any thread) whenever input is posted or a cancel arrives; for schedulers. Empty: nobody.
  void set_waker(std::function<void()> wake);

  /// The scheduler's note of the thread that ran the machine last, whose caches are warm; guarded by the
  /// scheduler.
  void set_home(unsigned thread) { home_ = thread; }
  unsigned home() const { return home_; }

  struct Impl;
  static Impl* impl_of(Machine& machine) { return machine.impl_.get(); }

 private:
  explicit Machine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  unsigned home_ = 0;
};

}  // namespace shinken
