#include "monitor/machine/joint.h"

#include <algorithm>
#include <utility>

#include "monitor/machine/machine_impl.h"

namespace shinken {
namespace {

constexpr u64 kNever = ~u64{0};

}  // namespace

Joint::Joint(const std::vector<std::shared_ptr<Machine>>& machines)
    : switch_(static_cast<unsigned>(machines.size())) {
  for (const auto& machine : machines) {
    members_.push_back({machine, Machine::impl_of(*machine)->time(), nullptr});
  }
}

void Joint::begin(Machine::Impl& caller, RunRequest request) {
  if (request.realtime) {
    throw MonitorError(ErrorKind::kInvalidConfig, "a joined machine does not run in host time");
  }
  for (Member& member : members_) {
    member.taken = member.machine.lock();
    // One that was closed or parted is an empty port.
    if (member.taken && member.impl()->joint.get() != this) member.taken.reset();
    member.over = !member.taken;
  }
  try {
    for (const Member& member : members_) {
      if (member.taken && member.impl()->run)
        throw MonitorError(ErrorKind::kBusy, "a joined machine is running");
    }
    caller.begin(std::move(request));
  } catch (...) {
    for (Member& member : members_) member.taken.reset();
    throw;
  }
  caller_ = &caller;
  stirred_ = true;
  for (Member& member : members_) {
    if (member.taken && member.impl() != caller_) take_along(member);
  }
}

/// It runs without a request of its own: until the caller is done. A cancel is none of its business.
void Joint::take_along(Member& member) {
  Machine::Impl& machine = *member.impl();
  RunRequest request;
  request.collect_frames = false;
  request.on_frame = [&machine](Port port, const FrameHeader& header, std::span<const u8> payload) {
    machine.kept_bytes += kFrameOverhead + payload.size();
    if (machine.kept_bytes > kMaxKeptBytes) return;
    machine.kept.push_back({port, header, {payload.begin(), payload.end()}});
  };
  machine.begin(std::move(request));
  machine.running.store(false);
}

SliceResult Joint::slice(u64 instructions) {
  for (unsigned windows = 0; windows < kMaxWindowsPerSlice;) {
    for (; next_ < members_.size(); ++next_) {
      Member& member = members_[next_];
      if (member.over) continue;
      Machine::Impl& machine = *member.impl();
      const u64 before = machine.hart->state().instret;
      const SliceResult result = machine.slice(instructions, member.base + horizon_);
      instructions -= std::min(instructions, machine.hart->state().instret - before);
      if (result.state == SliceResult::State::kRunnable) return result;
      member.over = result.state == SliceResult::State::kDone;
    }
    next_ = 0;
    exchange();
    if (caller_over()) return {SliceResult::State::kDone, 0};
    if (!advance()) return caller_->stop(StopReason::kIdle);
    ++windows;
  }
  caller_->publish();
  return {SliceResult::State::kRunnable, 0};
}

bool Joint::caller_over() const {
  return std::any_of(members_.begin(), members_.end(), [&](const Member& member) {
    return member.taken && member.impl() == caller_ && member.over;
  });
}

void Joint::exchange() {
  switch_.drain([&](unsigned port, u64 moment, std::span<const u8> frame) {
    const Member& member = members_[port];
    if (member.taken) member.impl()->board->net().receive(member.base + moment + kWindowTicks, frame);
  });
}

bool Joint::advance() {
  u64 next = kNever;
  bool awake = std::exchange(stirred_, false);
  for (const Member& member : members_) {
    if (member.over) continue;
    Machine::Impl& machine = *member.impl();
    awake = awake || machine.hart->state().waiting == 0;
    const u64 deadline = std::min(machine.board->next_deadline(), machine.run->ticks_limit);
    if (deadline != kNever) next = std::min(next, deadline - member.base);
  }
  if (!awake && next == kNever) return false;
  horizon_ += kWindowTicks;
  if (!awake) horizon_ = std::max(horizon_, (next / kWindowTicks + 1) * kWindowTicks);
  return true;
}

void Joint::finish() {
  std::vector<std::shared_ptr<Machine>> held;
  for (Member& member : members_) {
    if (!member.taken) continue;
    if (member.impl() != caller_) {
      member.impl()->board->flush_console();
      member.impl()->publish();
      const std::lock_guard in_use(member.impl()->rest);
      member.impl()->run.reset();
    }
    // Let go of at the end: this may be the last that holds it.
    held.push_back(std::move(member.taken));
    member.taken.reset();
  }
  caller_ = nullptr;
}

bool Joint::send(unsigned port, std::span<const u8> frame) {
  const Member& member = members_[port];
  return switch_.take(port, member.impl()->time() - member.base, frame);
}

}  // namespace shinken
