// The checkpoints of a machine: taking one, listing them, forks of one.
#include <utility>

#include "addon/machine_object.h"
#include "addon/options.h"

namespace shinken::addon {
namespace {

constexpr u64 kMaxStep = u64{1} << 53;
constexpr u64 kMaxOwnerBytes = u64{1} << 40;

Napi::Object checkpoint_object(Napi::Env env, const Checkpoint& checkpoint) {
  const Napi::Object result = Napi::Object::New(env);
  result.Set("step", static_cast<double>(checkpoint.step));
  result.Set("instructions", static_cast<double>(checkpoint.instret));
  result.Set("ticks", static_cast<double>(checkpoint.ticks));
  result.Set("digest", checkpoint.digest.hex());
  result.Set("deltaPages", static_cast<double>(checkpoint.delta_pages));
  return result;
}

Napi::Object stats_object(Napi::Env env, const CheckpointStats& stats) {
  const Napi::Object result = Napi::Object::New(env);
  result.Set("kept", static_cast<double>(stats.kept));
  result.Set("heldBytes", static_cast<double>(stats.held_bytes));
  result.Set("heldPages", static_cast<double>(stats.held_pages));
  result.Set("taken", static_cast<double>(stats.taken));
  result.Set("dropped", static_cast<double>(stats.dropped));
  return result;
}

}  // namespace

std::shared_ptr<CheckpointLog> ForkRequest::log(std::shared_ptr<const Golden> base) const {
  if (!checkpoint_bytes) return nullptr;
  return std::make_shared<CheckpointLog>(std::move(base), *checkpoint_bytes);
}

Napi::Object checkpoint_totals(Napi::Env env) {
  return stats_object(env, all_checkpoints());
}

bool MachineObject::keeps(const Napi::CallbackInfo& info) {
  if (!ready(info)) return false;
  if (core_->log) return true;
  Failure{"no_checkpoint", "the machine keeps no checkpoints"}
      .to_error(info.Env())
      .ThrowAsJavaScriptException();
  return false;
}

Napi::Value MachineObject::checkpoint(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!keeps(info)) return env.Undefined();
  Options options(env, info[0], "checkpoint", {"step", "ownerBytes"});
  const u64 step = options.required_integer("step", 0, kMaxStep);
  const u64 owner_bytes = options.integer("ownerBytes", 0, kMaxOwnerBytes, 0);
  if (!options.ok()) return env.Undefined();
  struct Outcome {
    Checkpoint taken{};
    std::vector<u64> dropped;
  };
  auto outcome = std::make_shared<Outcome>();
  core_->busy = true;
  return core_->environment->async(
      env,
      [outcome, machine = core_->machine, log = core_->log, step, owner_bytes] {
        outcome->taken = log->take(*machine, step, owner_bytes, &outcome->dropped);
      },
      [outcome](Napi::Env env) -> Napi::Value {
        const Napi::Object result = checkpoint_object(env, outcome->taken);
        const Napi::Array dropped = Napi::Array::New(env, outcome->dropped.size());
        for (u32 i = 0; i < outcome->dropped.size(); i++) {
          dropped.Set(i, static_cast<double>(outcome->dropped[i]));
        }
        result.Set("dropped", dropped);
        return result;
      },
      [env, core = core_] { core->finish_work(env); });
}

Napi::Value MachineObject::checkpoints(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!genuine(info)) return env.Undefined();
  // Also while it is at work; of a machine that keeps none, and of a closed one, nothing.
  const auto& log = core_->log;
  const std::vector<Checkpoint> kept = log ? log->kept() : std::vector<Checkpoint>{};
  const Napi::Object result = stats_object(env, log ? log->stats() : CheckpointStats{});
  result.Set("budgetBytes", static_cast<double>(log ? log->budget() : 0));
  const Napi::Array list = Napi::Array::New(env, kept.size());
  for (u32 i = 0; i < kept.size(); i++) list.Set(i, checkpoint_object(env, kept[i]));
  result.Set("checkpoints", list);
  return result;
}

Napi::Value MachineObject::fork_at(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!keeps(info)) return env.Undefined();
  Options options(env, info[0], "forkAt", {"step"});
  const u64 step = options.required_integer("step", 0, kMaxStep);
  if (!options.ok()) return env.Undefined();
  const auto request = fork_request(env, info[1], false);
  if (!request) return env.Undefined();
  auto child = std::make_shared<std::shared_ptr<Machine>>();
  auto log = request->log(core_->log->base());
  core_->busy = true;
  return core_->environment->async(
      env,
      [child, parent = core_->log, step, options = request->options] {
        *child = parent->fork(step, options);
      },
      [child, log, base = core_->base](Napi::Env env) {
        return MachineObject::wrap(env, std::move(*child), base, log);
      },
      [env, core = core_] { core->finish_work(env); });
}

}  // namespace shinken::addon
