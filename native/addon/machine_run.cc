#include "addon/machine_run.h"

#include <cstring>
#include <utility>

#include "addon/options.h"
#include "addon/tags.h"

namespace shinken::addon {
namespace {

constexpr u64 kTicksPerMs = kTicksPerSecond / 1000;
constexpr u64 kMaxGuestMs = u64{1} << 42;
constexpr u64 kMaxInstructions = u64{1} << 53;
constexpr u64 kMaxStream = 0xffffffff;
constexpr u64 kMaxCollected = 256 * 1024 * 1024;

/// Hands what has gathered to the listeners. JavaScript thread.
void drain(Napi::Env env, JavaScriptRun& run) {
  std::vector<Frame> frames;
  std::vector<u8> console;
  {
    const std::lock_guard<std::mutex> lock(run.channel->mutex);
    frames.swap(run.channel->frames);
    console.swap(run.channel->console);
    run.channel->undelivered = 0;
    run.channel->woken = false;
  }
  run.channel->drained.notify_all();
  if (!console.empty() && !run.on_console.IsEmpty() && !run.thrown) {
    run.on_console.Call({Napi::Buffer<u8>::Copy(env, console.data(), console.size())});
  }
  if (!frames.empty() && !run.on_frames.IsEmpty() && !run.thrown && !env.IsExceptionPending()) {
    run.on_frames.Call({frames_to_js(env, frames)});
  }
  if (!env.IsExceptionPending()) return;
  const Napi::Value thrown = env.GetAndClearPendingException().Value();
  if (run.thrown) return;
  // A listener that throws ends the run: its promise is where the caller looks.
  const Napi::Object box = Napi::Object::New(env);
  box.Set("error", thrown);
  run.thrown = Napi::Persistent(box);
  {
    const std::lock_guard<std::mutex> lock(run.channel->mutex);
    run.channel->discarding = true;
  }
  run.channel->drained.notify_all();
  if (run.core->machine) run.core->machine->cancel();
}

void settle(Napi::Env env, Environment& environment, u64 id, const RunResult& result,
            const std::vector<OutsideEvent>& events) {
  const auto found = environment.runs.find(id);
  if (found == environment.runs.end()) return;
  const std::unique_ptr<JavaScriptRun> run = std::move(found->second);
  environment.runs.erase(found);
  drain(env, *run);
  environment.mailbox().release();
  if (run->core->machine && !run->on_console.IsEmpty()) run->core->machine->set_console({});
  run->core->finish_work(env);
  if (run->thrown) {
    run->deferred.Reject(run->thrown->Value().Get("error"));
    return;
  }
  const Napi::Object value = Napi::Object::New(env);
  value.Set("reason", stop_name(result.reason));
  value.Set("parked", result.parked);
  value.Set("instructions", static_cast<double>(result.instret));
  value.Set("ticks", static_cast<double>(result.ticks));
  value.Set("runInstructions", static_cast<double>(result.run_instructions));
  value.Set("runTicks", static_cast<double>(result.run_ticks));
  value.Set("frames", frames_to_js(env, result.frames));
  value.Set("detail", result.detail);
  const Napi::Array outside = Napi::Array::New(env, events.size());
  for (size_t i = 0; i < events.size(); i++) {
    const Napi::Object event = Napi::Object::New(env);
    event.Set("instructions", static_cast<double>(events[i].instret));
    event.Set("ticks", static_cast<double>(events[i].ticks));
    event.Set("port", port_name(events[i].port));
    event.Set("bytes", Napi::Buffer<u8>::Copy(env, events[i].bytes.data(), events[i].bytes.size()));
    outside.Set(static_cast<u32>(i), event);
  }
  value.Set("events", outside);
  run->deferred.Resolve(value);
}

/// Engine thread: waits for room, adds, and makes sure that a letter is under way.
template <class Add>
void deliver(Environment& environment, u64 id, RunChannel& channel, size_t bytes, Add add) {
  std::unique_lock<std::mutex> lock(channel.mutex);
  channel.drained.wait(lock, [&] { return channel.discarding || channel.undelivered < kMaxUndelivered; });
  if (channel.discarding) return;
  add();
  channel.undelivered += bytes;
  if (channel.woken) return;
  channel.woken = true;
  lock.unlock();
  environment.mailbox().post([&environment, id](Napi::Env env) {
    const auto found = environment.runs.find(id);
    if (found != environment.runs.end()) drain(env, *found->second);
  });
}

}  // namespace

std::optional<Port> port_of(Napi::Env env, const Napi::Value& value) {
  if (value.IsUndefined()) return Port::kAgent;
  if (value.IsString()) {
    const std::string name = value.As<Napi::String>().Utf8Value();
    if (name == "agent") return Port::kAgent;
    if (name == "grader") return Port::kGrader;
  }
  throw_type(env, "`port` must be \"agent\" or \"grader\"");
  return std::nullopt;
}

const char* port_name(Port port) {
  return port == Port::kGrader ? "grader" : "agent";
}

namespace {

/// The header as it was on the wire.
void write_header(u8* out, const FrameHeader& header) {
  const auto put = [&out](u64 value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) *out++ = static_cast<u8>(value >> (8 * i));
  };
  put(header.length, 4);
  put(header.stream, 4);
  put(header.kind, 1);
  put(header.flags, 1);
  put(header.op, 2);
  put(header.credit, 4);
}

}  // namespace

Napi::Array frames_to_js(Napi::Env env, const std::vector<Frame>& frames) {
  size_t total = 0;
  for (const Frame& frame : frames) total += kFrameHeaderBytes + frame.payload.size();
  Napi::ArrayBuffer buffer = Napi::ArrayBuffer::New(env, total);
  const Napi::Array result = Napi::Array::New(env, frames.size());
  size_t at = 0;
  for (size_t i = 0; i < frames.size(); i++) {
    const std::vector<u8>& payload = frames[i].payload;
    // SAFETY: `total` is the sum of all headers and payloads, so what is written lies within the buffer.
    u8* out = static_cast<u8*>(buffer.Data()) + at;
    write_header(out, frames[i].header);
    if (!payload.empty()) std::memcpy(out + kFrameHeaderBytes, payload.data(), payload.size());
    const size_t size = kFrameHeaderBytes + payload.size();
    result.Set(static_cast<u32>(i), Napi::Uint8Array::New(env, size, buffer, at));
    at += size;
  }
  return result;
}

Napi::Value MachineObject::run(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!ready(info)) return env.Undefined();
  Options options(env, info[0], "run",
                  {"port", "input", "awaitStream", "parkBudget", "maxInstructions", "maxGuestMs",
                   "maxOutputBytes", "realtime"});
  if (!options.ok()) return env.Undefined();
  RunRequest request;
  const auto port = port_of(env, info[0].As<Napi::Object>().Get("port"));
  if (!port) return env.Undefined();
  request.await_port = *port;
  auto input = options.bytes("input", 0, kMaxPendingInput);
  if (!input.empty()) request.input.push_back({*port, std::move(input)});
  if (options.has("awaitStream")) {
    request.await_stream = static_cast<u32>(options.integer("awaitStream", 1, kMaxStream, 1));
  }
  request.park_budget = options.integer("parkBudget", 0, kMaxInstructions, kDefaultParkBudget);
  request.max_instructions = options.integer("maxInstructions", 0, kMaxInstructions, 0);
  request.max_guest_ticks = options.integer("maxGuestMs", 0, kMaxGuestMs, 0) * kTicksPerMs;
  request.max_collected_bytes =
      options.integer("maxOutputBytes", 0, kMaxCollected, request.max_collected_bytes);
  request.realtime = options.boolean("realtime", false);
  if (!options.ok()) return env.Undefined();
  for (const size_t i : {1, 2}) {
    if (info[i].IsUndefined() || info[i].IsFunction()) continue;
    throw_type(env, std::string("run: `") + (i == 1 ? "onFrames" : "onConsole") + "` must be a function");
    return env.Undefined();
  }

  auto run = std::make_unique<JavaScriptRun>(env);
  run->core = core_;
  run->channel = std::make_shared<RunChannel>();
  run->machine = Napi::Persistent(info.This().As<Napi::Object>());
  if (info[1].IsFunction()) run->on_frames = Napi::Persistent(info[1].As<Napi::Function>());
  if (info[2].IsFunction()) run->on_console = Napi::Persistent(info[2].As<Napi::Function>());
  const bool streams = !run->on_frames.IsEmpty();
  const bool shows = !run->on_console.IsEmpty();
  const Napi::Promise promise = run->deferred.Promise();
  const auto channel = run->channel;
  // The lambdas below hold the environment, so that it outlives every callback of the engine.
  const auto environment = core_->environment;
  const auto machine = core_->machine;

  const u64 id = environment->begin_work(machine, channel);
  request.collect_frames = !streams;
  if (streams) {
    request.on_frame = [environment, id, channel, port = *port](Port from, const FrameHeader& header,
                                                                std::span<const u8> payload) {
      if (from != port) return;
      deliver(*environment, id, *channel, payload.size() + kFrameOverhead,
              [&] { channel->frames.push_back({from, header, {payload.begin(), payload.end()}}); });
    };
  }
  auto events = std::make_shared<std::vector<OutsideEvent>>();
  request.on_event = [events](const OutsideEvent& event) { events->push_back(event); };
  if (shows) {
    machine->set_console([environment, id, channel](std::span<const u8> bytes) {
      deliver(*environment, id, *channel, bytes.size(),
              [&] { channel->console.insert(channel->console.end(), bytes.begin(), bytes.end()); });
    });
  }
  try {
    environment->engine().submit(
        machine, std::move(request), [environment, id, events, port = *port](RunResult result) {
          auto outcome = std::make_shared<RunResult>(std::move(result));
          std::erase_if(outcome->frames, [port](const Frame& frame) { return frame.port != port; });
          environment->end_work(id);
          environment->mailbox().post([environment, id, events, outcome](Napi::Env env) {
            settle(env, *environment, id, *outcome, *events);
          });
        });
  } catch (...) {
    const Failure failure = current_failure();
    if (shows) machine->set_console({});
    environment->end_work(id);
    failure.to_error(env).ThrowAsJavaScriptException();
    return env.Undefined();
  }
  core_->busy = true;
  environment->runs.emplace(id, std::move(run));
  environment->mailbox().hold();
  return promise;
}

Napi::Value MachineObject::post(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!genuine(info)) return env.Undefined();
  const auto port = port_of(env, info[0]);
  if (!port) return env.Undefined();
  const auto bytes = bytes_of(env, info[1], "post: `bytes`", 0, kMaxPendingInput);
  if (!bytes) return env.Undefined();
  const bool taken = core_->machine && core_->machine->post_input(*port, *bytes);
  return Napi::Boolean::New(env, taken);
}

Napi::Value MachineObject::expect_nobody(const Napi::CallbackInfo& info) {
  if (!genuine(info)) return info.Env().Undefined();
  if (core_->machine) core_->machine->expect_nobody();
  return info.Env().Undefined();
}

Napi::Value MachineObject::cancel(const Napi::CallbackInfo& info) {
  if (!genuine(info)) return info.Env().Undefined();
  if (core_->machine) core_->machine->cancel();
  return info.Env().Undefined();
}

}  // namespace shinken::addon
