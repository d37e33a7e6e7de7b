#pragma once
// A machine as a JavaScript object. The object and everything below is used on the JavaScript thread only;
// engine threads see the `Machine` itself.
#include <napi.h>

#include <memory>
#include <optional>
#include <vector>

#include "addon/environment.h"
#include "monitor/snapshot/checkpoint_log.h"

namespace shinken::addon {

/// How often each path of userfaultfd was taken, as an object.
Napi::Object paths_object(Napi::Env env, const PathCounters& paths);

/// What outlives the JavaScript object while work on it is in flight.
struct MachineCore {
  std::shared_ptr<Environment> environment;
  std::shared_ptr<Machine> machine;    // null once closed
  std::shared_ptr<CheckpointLog> log;  // null: it keeps no checkpoints
  /// What its states are told as a difference from: the golden that it or its ancestor was forked from; null
  /// after a boot.
  std::shared_ptr<const Golden> base;
  bool busy = false;       // an engine thread uses it: no other call may
  unsigned snapshots = 0;  // being finished: it may be used, but not be closed
  bool closing = false;
  std::vector<Napi::Promise::Deferred> closers;
  /// The machines on its switch, itself among them; null if it is not joined. They count as one: no call on
  /// any while one is busy.
  std::shared_ptr<std::vector<std::weak_ptr<MachineCore>>> joined;

  /// True while it or one that it is joined with is busy.
  bool occupied() const;
  bool may_close() const { return !occupied() && snapshots == 0; }
  /// Ends the work that set `busy`, and closes if that was asked for meanwhile.
  void finish_work(Napi::Env env);
  void finish_snapshot(Napi::Env env);
  void close_now(Napi::Env env);
};

class MachineObject final : public Napi::ObjectWrap<MachineObject> {
 public:
  static void define(Napi::Env env);
  static Napi::Value wrap(Napi::Env env, std::shared_ptr<Machine> machine,
                          std::shared_ptr<const Golden> base = nullptr,
                          std::shared_ptr<CheckpointLog> log = nullptr);
  /// `compareStates(one, other)`: in what two machines or goldens differ.
  static Napi::Value compare(const Napi::CallbackInfo& info);

  /// `joinMachines(machines)`: on one switch from here on.
  static Napi::Value join(const Napi::CallbackInfo& info);

  explicit MachineObject(const Napi::CallbackInfo& info);
  void Finalize(Napi::Env env) override;

 private:
  /// False, with a pending exception, if `this` is no machine of ours.
  static bool genuine(const Napi::CallbackInfo& info);
  /// As `genuine`, and it is open, and no other work is in flight.
  bool ready(const Napi::CallbackInfo& info);
  /// The same for `core`; the failure names it.
  static bool ready(Napi::Env env, const MachineCore& core);

  // machine_object.cc
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value port_open(const Napi::CallbackInfo& info);
  Napi::Value closed(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);
  // machine_run.cc
  Napi::Value run(const Napi::CallbackInfo& info);
  Napi::Value post(const Napi::CallbackInfo& info);
  Napi::Value expect_nobody(const Napi::CallbackInfo& info);
  Napi::Value cancel(const Napi::CallbackInfo& info);
  // machine_fork.cc
  Napi::Value freeze(const Napi::CallbackInfo& info);
  Napi::Value snapshot(const Napi::CallbackInfo& info);
  Napi::Value fork(const Napi::CallbackInfo& info);
  Napi::Value digest(const Napi::CallbackInfo& info);
  Napi::Value share_code_with(const Napi::CallbackInfo& info);
  // machine_checkpoint.cc
  Napi::Value checkpoint(const Napi::CallbackInfo& info);
  Napi::Value checkpoints(const Napi::CallbackInfo& info);
  Napi::Value fork_at(const Napi::CallbackInfo& info);
  /// As `ready`, and it keeps checkpoints.
  bool keeps(const Napi::CallbackInfo& info);
  // machine_delta.cc
  Napi::Value save_delta(const Napi::CallbackInfo& info);
  // machine_join.cc
  Napi::Value part(const Napi::CallbackInfo& info);
  Napi::Value set_link(const Napi::CallbackInfo& info);

  std::shared_ptr<MachineCore> core_;
};

/// What a fork is asked for.
struct ForkRequest {
  ForkOptions options;
  std::optional<u64> checkpoint_bytes;  // it keeps checkpoints, and so many bytes of them

  /// The log of the fork; null if it keeps none.
  std::shared_ptr<CheckpointLog> log(std::shared_ptr<const Golden> base) const;
};

/// Fields of a fork: `kind` (one of the allowed), `generationId`, `mac` and `checkpointBytes`. Nothing, and a
/// pending exception, if wrong.
std::optional<ForkRequest> fork_request(Napi::Env env, const Napi::Value& value, bool from_golden);

/// What all logs of the process keep.
Napi::Object checkpoint_totals(Napi::Env env);

}  // namespace shinken::addon
