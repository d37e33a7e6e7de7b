#pragma once
// Machines on one switch. They stand at one time: a run of one of them takes the others along, window by
// window, on the same thread. What a window's frames do is seen one window later, so nothing depends on who
// runs first.
//
//   window     |<- kWindowTicks ->|                   time since the machines were joined
//   machine 0  ####----####-------|########
//   machine 1  ---####------------|####
//                  frame sent: ^ --kWindowTicks--> ^ seen by its receiver
#include <memory>
#include <vector>

#include "monitor/machine/machine.h"
#include "monitor/net/switch.h"

namespace shinken {

class Joint {
 public:
  /// Length of a window, and so a frame's journey: 100 µs of guest time.
  static constexpr u64 kWindowTicks = kTicksPerSecond / 10'000;
  /// Windows in one slice, so that a scheduler gets its turn even if all sleep.
  static constexpr unsigned kMaxWindowsPerSlice = 1024;
  /// Bytes of frames kept for a machine that was taken along, until its own next run ends.
  static constexpr std::size_t kMaxKeptBytes = 1024 * 1024;

  explicit Joint(const std::vector<std::shared_ptr<Machine>>& machines);

  /// Begins a run of `caller`; the others begin with it. Throws kBusy if one of them is at work.
  void begin(Machine::Impl& caller, RunRequest request);
  SliceResult slice(u64 instructions);
  /// Ends the run of the others.
  void finish();
  /// A frame left the machine at this port. False if nobody takes it.
  bool send(unsigned port, std::span<const u8> frame);

 private:
  struct Member {
    std::weak_ptr<Machine> machine;
    u64 base;                        // its guest time when it was joined
    std::shared_ptr<Machine> taken;  // held during a run
    bool over = false;               // it does nothing more in this run
    Machine::Impl* impl() const { return Machine::impl_of(*taken); }
  };
  void take_along(Member& member);
  bool caller_over() const;
  void exchange();
  /// Opens the next window that anything happens in. False: nothing ever will.
  bool advance();

  std::vector<Member> members_;
  EthernetSwitch switch_;
  Machine::Impl* caller_ = nullptr;
  unsigned next_ = 0;     // the member whose turn it is in this window
  bool stirred_ = false;  // input has just entered: who waits may have something to do
  u64 horizon_ = 0;       // end of the present window, since the machines were joined
};

}  // namespace shinken
