#pragma once
// The state of one JavaScript environment (main thread or worker): its way back into JavaScript, what is in
// flight, and the engine it holds. There are no mutable globals; two environments share nothing but the
// engine's threads.
#include <napi.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "addon/mailbox.h"
#include "monitor/engine/engine.h"
#include "monitor/machine/machine.h"

namespace shinken::addon {

/// What went wrong in native code, on its way to a JavaScript Error with `code`.
struct Failure {
  std::string code;
  std::string message;
  Napi::Error to_error(Napi::Env env) const;
};

/// The present exception as a failure; to be called in a catch block.
Failure current_failure();

struct JavaScriptRun;
struct RunChannel;

class Environment : public std::enable_shared_from_this<Environment> {
 public:
  /// Makes the instance data of `env` and registers the clean-up hook.
  static void install(Napi::Env env);
  static std::shared_ptr<Environment> of(Napi::Env env);

  explicit Environment(Napi::Env env);
  ~Environment();

  /// The process's engine, held from the first use to the end of this environment. JavaScript thread.
  Engine& engine();
  Mailbox& mailbox() { return mailbox_; }

  /// Runs `work` on an engine thread and then, on the JavaScript thread, `settle` to make the promise's
  /// value; `after` (JavaScript thread) runs first, whether or not `work` threw. `machine`, if any, is not to
  /// be touched meanwhile.
  Napi::Promise async(Napi::Env env, std::function<void()> work, std::function<Napi::Value(Napi::Env)> settle,
                      std::function<void()> after = {});

  /// Brackets anything that engine threads do for this environment. If it ends, `machine` is cancelled and
  /// nobody waits for room in `channel` any more.
  u64 begin_work(std::shared_ptr<Machine> machine = nullptr, std::shared_ptr<RunChannel> channel = nullptr);
  /// Any thread. Afterwards that work may use nothing of this environment but the mailbox.
  void end_work(u64 id);

  /// Lets go of a machine or golden on an engine thread, since freeing its memory takes time.
  void discard(std::shared_ptr<void> object);

  struct Count {
    u64 machines = 0;  // open
    u64 goldens = 0;
  };
  Count count;  // JavaScript thread

  Napi::FunctionReference machine_constructor;
  Napi::FunctionReference golden_constructor;
  /// Handed to the constructor that `wrap` calls; a constructor that finds nothing was called by a stranger.
  std::shared_ptr<Machine> newborn_machine;
  std::shared_ptr<Golden> newborn_golden;
  std::shared_ptr<const Golden> newborn_base;
  /// Runs in flight, by work id: what they need of JavaScript. Never touched by an engine thread.
  std::unordered_map<u64, std::unique_ptr<JavaScriptRun>> runs;

  bool ended() const { return ended_; }
  /// Null until the engine was first needed.
  const std::shared_ptr<Engine>& engine_if_any() const { return engine_; }
  u64 in_flight() const;

 private:
  struct Work {
    std::shared_ptr<Machine> machine;
    std::shared_ptr<RunChannel> channel;
  };
  void end();

  Mailbox mailbox_;
  std::shared_ptr<Engine> engine_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::unordered_map<u64, Work> work_;
  u64 next_work_ = 1;
  bool ended_ = false;
};

}  // namespace shinken::addon
