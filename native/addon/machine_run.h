#pragma once
// A run in flight, seen from its two sides.
#include <napi.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "addon/machine_object.h"

namespace shinken::addon {

/// Bytes of output of one run that may wait for JavaScript; the run waits beyond it.
inline constexpr size_t kMaxUndelivered = 4 * 1024 * 1024;

/// Between the engine thread that runs the machine and the JavaScript thread.
struct RunChannel {
  std::mutex mutex;
  std::condition_variable drained;
  std::vector<Frame> frames;
  std::vector<u8> console;
  size_t undelivered = 0;
  bool woken = false;       // a letter is under way
  bool discarding = false;  // nobody listens any more
};

/// What a run needs of JavaScript. JavaScript thread only.
struct JavaScriptRun {
  explicit JavaScriptRun(Napi::Env env) : deferred(Napi::Promise::Deferred::New(env)) {}
  Napi::Promise::Deferred deferred;
  Napi::ObjectReference machine;  // keeps the object, and so the caller's handle, alive
  Napi::FunctionReference on_frames;
  Napi::FunctionReference on_console;
  std::shared_ptr<MachineCore> core;
  std::shared_ptr<RunChannel> channel;
  std::vector<OutsideEvent> events;
  std::optional<Napi::ObjectReference> thrown;  // by a listener: becomes the run's rejection
};

/// Whole frames, header included, as Uint8Arrays that share one buffer.
Napi::Array frames_to_js(Napi::Env env, const std::vector<Frame>& frames);

}  // namespace shinken::addon
