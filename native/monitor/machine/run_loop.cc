// The loop that makes time pass: run to the next deadline, let it happen, skip idle waits.
#include <algorithm>
#include <new>

#include "monitor/machine/joint.h"
#include "monitor/machine/machine_impl.h"

namespace shinken {
namespace {

constexpr u64 kNever = ~u64{0};
constexpr u64 kNanosPerTick = 1'000'000'000 / kTicksPerSecond;

u64 add_limit(u64 start, u64 length) {
  return length == 0 || length > kNever - start ? kNever : start + length;
}

u64 saturating_add(u64 a, u64 b) {
  return b > kNever - a ? kNever : a + b;
}

const char* port_name(Port port) {
  return VirtioConsole::kPortNames[static_cast<unsigned>(port)];
}

}  // namespace

void Machine::Impl::begin(RunRequest request) {
  const std::lock_guard in_use(rest);
  check_at_rest();
  u64 total[VirtioConsole::kPorts] = {};
  for (const RunRequest::Input& input : request.input) {
    const unsigned port = static_cast<unsigned>(input.port);
    if (port == 0 || port >= VirtioConsole::kPorts) {
      throw MonitorError(ErrorKind::kInvalidConfig, "input for a port that does not exist");
    }
    total[port] += input.bytes.size();
    if (total[port] + board->console().pending(port) > kMaxPendingInput) {
      throw MonitorError(ErrorKind::kInvalidConfig, "more input than may wait for the guest");
    }
  }
  const u64 instret = hart->state().instret, ticks = time();
  run.emplace();
  run->first_instret = instret;
  run->first_ticks = ticks;
  run->instret_limit = add_limit(instret, request.max_instructions);
  run->ticks_limit = add_limit(ticks, request.max_guest_ticks);
  run->request = std::move(request);
  cancelled.store(false);
  yielding.store(false);
  realtime.store(run->request.realtime);
  expecting.store(true);
  running.store(true);
  take_posted();
  for (RunRequest::Input& input : run->request.input) {
    board->console().send(static_cast<unsigned>(input.port), input.bytes);
    input.bytes = {};
  }
  publish();
}

/// Moves what other threads posted into the devices. Before the first instruction always, later only in
/// realtime.
void Machine::Impl::take_posted() {
  for (;;) {
    Posted next;
    {
      std::lock_guard lock(mutex);
      if (posted.empty()) return;
      next = std::move(posted.front());
      posted.pop_front();
      posted_bytes[next.port] -= next.bytes.size();
      device_pending[next.port].fetch_add(next.bytes.size());
    }
    if (next.port == kConsolePort) {
      board->uart().receive(next.bytes);
      device_pending[kConsolePort].store(0);
      continue;
    }
    board->console().send(next.port, next.bytes);
    if (run->request.on_event) {
      run->request.on_event(
          {hart->state().instret, time(), static_cast<Port>(next.port), std::move(next.bytes)});
    }
  }
}

std::optional<StopReason> Machine::Impl::stop_reason(u64 instret, u64 ticks) {
  if (const ResetRequest* reset = board->reset_request()) {
    if (reset->reason != 0) return StopReason::kFailure;
    return reset->type == 0 ? StopReason::kShutdown : StopReason::kReboot;
  }
  if (run->request.await_stream) {
    const FrameParser& parser = board->parser(static_cast<unsigned>(run->request.await_port));
    if (parser.dead()) {
      run->result.detail = std::string(port_name(run->request.await_port)) + ": the guest wrote " +
                           (parser.fault().empty() ? "no frame" : parser.fault());
      return StopReason::kProtocol;
    }
  }
  if (run->output_limit) return StopReason::kOutputLimit;
  if (cancelled.load()) return StopReason::kCancelled;
  if (instret >= run->park_limit) return StopReason::kReply;
  if (instret >= run->instret_limit) return StopReason::kInstructionLimit;
  if (ticks >= run->ticks_limit) return StopReason::kGuestTimeLimit;
  return std::nullopt;
}

SliceResult Machine::Impl::slice(u64 instructions, u64 horizon) {
  if (!run || run->done) throw MonitorError(ErrorKind::kInvalidConfig, "slice without begin");
  if (out_of_memory) return stop(StopReason::kHostMemory);
  const u64 whole_slice = saturating_add(hart->state().instret, instructions), work = board->work();
  try {
    for (;;) {
      if (run->request.realtime) {
        if (run->wait_began) {
          if (auto waiting = idle(horizon)) return *waiting;
        }
        take_posted();
      }
      // Before what is due at the horizon itself: that belongs to the next window. Without one there is none,
      // though a guest may sleep until its clock is full.
      if (horizon != kNever && time() >= horizon) return {SliceResult::State::kAtHorizon, 0};
      board->run_due_events();
      const u64 instret = hart->state().instret, ticks = time();
      // What devices did for the guest shortens its turn, not its time.
      const u64 slice_limit = whole_slice - std::min(whole_slice, board->work() - work);
      if (auto reason = stop_reason(instret, ticks)) return stop(*reason);
      if (instret >= slice_limit || (yielding.load() && yielding.exchange(false))) {
        publish();
        board->flush_console();
        return {SliceResult::State::kRunnable, 0};
      }
      const u64 deadline = std::min({board->next_deadline(), run->ticks_limit, horizon});
      const u64 limit = std::min(
          {saturating_add(instret, deadline - ticks), run->instret_limit, run->park_limit, slice_limit});
      if (hart->run(limit) != HartExit::kWaiting || board->event_due()) continue;
      if (run->replied) return stop(StopReason::kReply);
      if (auto result = idle(horizon)) return *result;
    }
  } catch (const std::bad_alloc&) {
    out_of_memory = true;
  } catch (const MonitorError&) {
    out_of_memory = true;
  }
  return stop(StopReason::kHostMemory);
}

/// The hart stands in WFI: skips to the next deadline. With a result, the slice is over.
std::optional<SliceResult> Machine::Impl::idle(u64 horizon) {
  const u64 now = time();
  const u64 deadline = board->next_deadline();
  const bool awaiting = run->request.await_stream.has_value();
  if (!run->request.realtime) {
    // With a horizon somebody else may still wake it.
    if (horizon == kNever && deadline == kNever && (awaiting || run->ticks_limit == kNever)) {
      return stop(StopReason::kIdle);
    }
    hart->state().skipped += std::min({deadline, run->ticks_limit, horizon}) - now;
    return std::nullopt;
  }
  const auto host_now = Clock::now();
  if (!run->wait_began) run->wait_began = host_now;
  const u64 elapsed =
      static_cast<u64>(std::chrono::nanoseconds(host_now - *run->wait_began).count()) / kNanosPerTick;
  const u64 target = std::min(deadline, run->ticks_limit);
  const u64 left = target == kNever ? kNever : target - now;
  bool outside_waits;
  {
    std::lock_guard lock(mutex);
    outside_waits = !posted.empty() || cancelled.load();
  }
  if (elapsed >= left || outside_waits) {
    hart->state().skipped += std::min(elapsed, left);
    run->wait_began.reset();
    return std::nullopt;
  }
  run->wait_expects = expecting.load();
  if (!run->wait_expects && target != kNever) {
    hart->state().skipped += left;
    run->wait_began.reset();
    return std::nullopt;
  }
  publish();
  board->flush_console();
  const u64 ticks = left - elapsed;
  return SliceResult{SliceResult::State::kWaiting,
                     left == kNever || ticks > kNever / kNanosPerTick ? kNever : ticks * kNanosPerTick};
}

SliceResult Machine::Impl::stop(StopReason reason) {
  board->flush_console();
  RunResult& result = run->result;
  result.reason = reason;
  result.parked = hart->state().waiting != 0;
  result.instret = hart->state().instret;
  result.ticks = time();
  result.run_instructions = result.instret - run->first_instret;
  result.run_ticks = result.ticks - run->first_ticks;
  run->done = true;
  publish();
  return {SliceResult::State::kDone, 0};
}

void Machine::Impl::publish() {
  seen_instret.store(hart->state().instret);
  seen_ticks.store(time());
  seen_dirty.store(memory->dirty_pages());
  seen_hashed.store(memory->hashed_pages());
  for (unsigned port = 1; port < VirtioConsole::kPorts; ++port) {
    device_pending[port].store(board->console().pending(port));
  }
  std::lock_guard lock(mutex);
  seen_net = board->net().counters();
  seen_paths = memory->paths();
}

void Machine::Impl::on_console(std::span<const u8> bytes) {
  if (console) console(bytes);
}

bool Machine::Impl::on_packet(std::span<const u8> frame) {
  return joint && joint->send(joint_port, frame);
}

void Machine::Impl::on_frame(unsigned port, const FrameHeader& header, std::span<const u8> payload) {
  if (!run) return;
  const Port from = static_cast<Port>(port);
  const RunRequest& request = run->request;
  if (request.on_frame) request.on_frame(from, header, payload);
  if (request.collect_frames && !run->output_limit) {
    run->collected += kFrameOverhead + payload.size();
    if (run->collected > request.max_collected_bytes) {
      run->output_limit = true;
      hart->request_exit();
    } else {
      run->result.frames.push_back({from, header, {payload.begin(), payload.end()}});
    }
  }
  if (!run->replied && request.await_stream == header.stream && from == request.await_port &&
      (header.flags & kFrameFinal) != 0) {
    run->replied = true;
    run->park_limit = saturating_add(hart->state().instret, request.park_budget);
    hart->request_exit();
  }
}

}  // namespace shinken
