// What other threads may do to a machine: post input, cancel, look.
#include <algorithm>
#include <chrono>

#include "monitor/machine/machine_impl.h"

namespace shinken {

bool Machine::Impl::post(unsigned port, std::span<const u8> bytes) {
  const u64 limit = port == kConsolePort ? Uart::kMaxInput : kMaxPendingInput;
  {
    std::lock_guard lock(mutex);
    const u64 waiting = posted_bytes[port] + device_pending[port].load();
    if (!open || waiting > limit || bytes.size() > limit - waiting) return false;
    posted.push_back({port, {bytes.begin(), bytes.end()}});
    posted_bytes[port] += bytes.size();
  }
  if (realtime.load()) notify_outside();
  return true;
}

/// Makes whoever runs the machine look: out of the hart's run, out of a wait, back into a scheduler's queue.
void Machine::Impl::notify_outside() {
  std::function<void()> wake;
  {
    std::lock_guard lock(mutex);
    // Under the lock: `close` takes it before it frees the hart.
    if (open) hart->request_exit();
    wake = waker;
  }
  outside.notify_all();
  if (wake) wake();
}

bool Machine::post_input(Port port, std::span<const u8> bytes) {
  const unsigned index = static_cast<unsigned>(port);
  return index >= 1 && index < VirtioConsole::kPorts && impl_->post(index, bytes);
}

bool Machine::post_console_input(std::span<const u8> bytes) {
  return impl_->post(Impl::kConsolePort, bytes);
}

void Machine::cancel() {
  if (!impl_->running.load()) return;
  impl_->cancelled.store(true);
  impl_->notify_outside();
}

void Machine::expect_nobody() {
  if (!impl_->realtime.load()) return;
  impl_->expecting.store(false);
  impl_->notify_outside();
}

bool Machine::cancelled() const {
  return impl_->cancelled.load();
}

void Machine::yield() {
  std::lock_guard lock(impl_->mutex);
  impl_->yielding.store(true);
  if (impl_->open) impl_->hart->request_exit();
}

bool Machine::running() const {
  return impl_->running.load();
}

void Machine::wait_outside(u64 ns) {
  // Beyond a day the bound is of no use, and the sum with now must not overflow.
  constexpr u64 kLongest = u64{86'400} * 1'000'000'000;
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::min(ns, kLongest));
  std::unique_lock lock(impl_->mutex);
  impl_->outside.wait_until(lock, until, [&] {
    return !impl_->posted.empty() || impl_->cancelled.load() ||
           (impl_->run && impl_->run->wait_expects != impl_->expecting.load());
  });
}

MachineStats Machine::stats() const {
  u64 pending = 0;
  std::lock_guard lock(impl_->mutex);
  for (unsigned port = 1; port < VirtioConsole::kPorts; ++port) {
    pending += impl_->posted_bytes[port] + impl_->device_pending[port].load();
  }
  return {impl_->seen_instret.load(),
          impl_->seen_ticks.load(),
          impl_->memory_bytes.load(),
          impl_->seen_dirty.load() << kPageShift,
          pending,
          impl_->seen_hashed.load(),
          impl_->seen_paths,
          impl_->seen_net};
}

void Machine::set_waker(std::function<void()> wake) {
  std::lock_guard lock(impl_->mutex);
  impl_->waker = std::move(wake);
}

const char* stop_name(StopReason reason) {
  switch (reason) {
    case StopReason::kReply:
      return "reply";
    case StopReason::kIdle:
      return "idle";
    case StopReason::kInstructionLimit:
      return "instruction_limit";
    case StopReason::kGuestTimeLimit:
      return "guest_time_limit";
    case StopReason::kShutdown:
      return "shutdown";
    case StopReason::kReboot:
      return "reboot";
    case StopReason::kFailure:
      return "failure";
    case StopReason::kCancelled:
      return "cancelled";
    case StopReason::kProtocol:
      return "protocol";
    case StopReason::kOutputLimit:
      return "output_limit";
    case StopReason::kHostMemory:
      return "host_memory";
  }
  return "unknown";
}

}  // namespace shinken
