#include "addon/machine_object.h"

#include <utility>

#include "addon/options.h"
#include "addon/tags.h"

namespace shinken::addon {

void MachineCore::finish_work(Napi::Env env) {
  busy = false;
  const auto all = joined;
  if (closing && snapshots == 0) close_now(env);
  if (!all) return;
  // Others may have waited for this one.
  for (const auto& weak : *all) {
    const auto other = weak.lock();
    if (other && other->joined == all && other->closing && other->may_close()) other->close_now(env);
  }
}

void MachineCore::finish_snapshot(Napi::Env env) {
  --snapshots;
  if (closing && may_close()) close_now(env);
}

bool MachineCore::occupied() const {
  if (busy || !joined) return busy;
  for (const auto& weak : *joined) {
    const auto other = weak.lock();
    if (other && other->joined == joined && other->busy) return true;
  }
  return false;
}

void MachineCore::close_now(Napi::Env env) {
  if (!machine) return;
  // Here, while none of them runs: later a run of another would take it along.
  machine->part();
  joined.reset();
  auto doomed = std::make_shared<std::shared_ptr<Machine>>(std::move(machine));
  machine = nullptr;
  auto checkpoints = std::make_shared<std::shared_ptr<CheckpointLog>>(std::move(log));
  log = nullptr;
  auto golden = std::make_shared<std::shared_ptr<const Golden>>(std::move(base));
  base = nullptr;
  environment->count.machines--;
  auto waiting = std::make_shared<std::vector<Napi::Promise::Deferred>>(std::move(closers));
  closers.clear();
  environment->async(
      env,
      [doomed, checkpoints, golden] {
        (*doomed)->close();
        doomed->reset();
        checkpoints->reset();
        golden->reset();
      },
      [waiting](Napi::Env env) {
        for (const auto& deferred : *waiting) deferred.Resolve(env.Undefined());
        return env.Undefined();
      });
}

void MachineObject::define(Napi::Env env) {
  const Napi::Function constructor =
      DefineClass(env, "Machine",
                  {
                      InstanceMethod<&MachineObject::run>("run"),
                      InstanceMethod<&MachineObject::post>("post"),
                      InstanceMethod<&MachineObject::expect_nobody>("expectNobody"),
                      InstanceMethod<&MachineObject::cancel>("cancel"),
                      InstanceMethod<&MachineObject::freeze>("freeze"),
                      InstanceMethod<&MachineObject::snapshot>("snapshot"),
                      InstanceMethod<&MachineObject::fork>("fork"),
                      InstanceMethod<&MachineObject::digest>("digest"),
                      InstanceMethod<&MachineObject::share_code_with>("shareCodeWith"),
                      InstanceMethod<&MachineObject::checkpoint>("checkpoint"),
                      InstanceMethod<&MachineObject::checkpoints>("checkpoints"),
                      InstanceMethod<&MachineObject::fork_at>("forkAt"),
                      InstanceMethod<&MachineObject::save_delta>("saveDelta"),
                      InstanceMethod<&MachineObject::part>("part"),
                      InstanceMethod<&MachineObject::set_link>("setLink"),
                      InstanceMethod<&MachineObject::stats>("stats"),
                      InstanceMethod<&MachineObject::port_open>("portOpen"),
                      InstanceMethod<&MachineObject::close>("close"),
                      InstanceAccessor<&MachineObject::closed>("closed"),
                  });
  Environment::of(env)->machine_constructor = Napi::Persistent(constructor);
}

Napi::Value MachineObject::wrap(Napi::Env env, std::shared_ptr<Machine> machine,
                                std::shared_ptr<const Golden> base, std::shared_ptr<CheckpointLog> log) {
  const auto environment = Environment::of(env);
  environment->newborn_machine = std::move(machine);
  const Napi::Object object = environment->machine_constructor.New({});
  environment->newborn_machine.reset();
  if (env.IsExceptionPending()) return object;
  MachineCore& core = *Unwrap(object)->core_;
  core.base = std::move(base);
  core.log = std::move(log);
  return object;
}

MachineObject::MachineObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const auto environment = Environment::of(info.Env());
  if (!environment->newborn_machine) {
    throw_type(info.Env(), "a Machine is made by bootMachine or by a fork, not by `new`");
    return;
  }
  core_ = std::make_shared<MachineCore>();
  core_->environment = environment;
  core_->machine = std::move(environment->newborn_machine);
  environment->count.machines++;
  info.This().As<Napi::Object>().TypeTag(&kMachineTag);
}

void MachineObject::Finalize(Napi::Env) {
  if (!core_ || !core_->machine) return;
  // Collected without a close. A run in flight holds the machine until it is over.
  core_->machine->cancel();
  core_->environment->count.machines--;
  core_->environment->discard(std::move(core_->machine));
  core_->environment->discard(std::move(core_->log));
  core_->environment->discard(std::const_pointer_cast<Golden>(std::move(core_->base)));
}

bool MachineObject::genuine(const Napi::CallbackInfo& info) {
  if (info.This().IsObject() && info.This().As<Napi::Object>().CheckTypeTag(&kMachineTag)) return true;
  throw_type(info.Env(), "this is not a Machine");
  return false;
}

bool MachineObject::ready(const Napi::CallbackInfo& info) {
  return genuine(info) && ready(info.Env(), *core_);
}

bool MachineObject::ready(Napi::Env env, const MachineCore& core) {
  if (!core.machine || core.closing) {
    Failure{"closed", "the machine was closed"}.to_error(env).ThrowAsJavaScriptException();
    return false;
  }
  if (core.occupied()) {
    Failure{"busy", core.busy ? "the machine is working on another call"
                              : "a machine that it is joined with is working on another call"}
        .to_error(env)
        .ThrowAsJavaScriptException();
    return false;
  }
  return true;
}

Napi::Object paths_object(Napi::Env env, const PathCounters& paths) {
  const Napi::Object result = Napi::Object::New(env);
  result.Set("scannedPages", static_cast<double>(paths.scanned_pages));
  result.Set("coldFaults", static_cast<double>(paths.cold_faults));
  result.Set("prefetchedPages", static_cast<double>(paths.prefetched_pages));
  result.Set("liveFaults", static_cast<double>(paths.live_faults));
  return result;
}

Napi::Value MachineObject::stats(const Napi::CallbackInfo& info) {
  if (!genuine(info)) return info.Env().Undefined();
  const Napi::Object result = Napi::Object::New(info.Env());
  const MachineStats stats = core_->machine ? core_->machine->stats() : MachineStats{};
  result.Set("instructions", static_cast<double>(stats.instret));
  result.Set("ticks", static_cast<double>(stats.ticks));
  result.Set("memoryBytes", static_cast<double>(stats.memory_bytes));
  result.Set("privateBytes", static_cast<double>(stats.private_bytes));
  result.Set("pendingInput", static_cast<double>(stats.pending_input));
  result.Set("hashedPages", static_cast<double>(stats.hashed_pages));
  result.Set("paths", paths_object(info.Env(), stats.paths));
  const Napi::Object net = Napi::Object::New(info.Env());
  net.Set("sentFrames", static_cast<double>(stats.net.sent_frames));
  net.Set("sentBytes", static_cast<double>(stats.net.sent_bytes));
  net.Set("droppedFrames", static_cast<double>(stats.net.dropped_frames));
  net.Set("droppedBytes", static_cast<double>(stats.net.dropped_bytes));
  net.Set("receivedFrames", static_cast<double>(stats.net.received_frames));
  net.Set("receivedBytes", static_cast<double>(stats.net.received_bytes));
  net.Set("refusedFrames", static_cast<double>(stats.net.refused_frames));
  result.Set("net", net);
  return result;
}

Napi::Value MachineObject::port_open(const Napi::CallbackInfo& info) {
  if (!ready(info)) return info.Env().Undefined();
  const auto port = port_of(info.Env(), info[0]);
  if (!port) return info.Env().Undefined();
  return Napi::Boolean::New(info.Env(), core_->machine->port_open(*port));
}

Napi::Value MachineObject::closed(const Napi::CallbackInfo& info) {
  if (!genuine(info)) return info.Env().Undefined();
  return Napi::Boolean::New(info.Env(), !core_->machine || core_->closing);
}

Napi::Value MachineObject::close(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!genuine(info)) return env.Undefined();
  const Napi::Promise::Deferred deferred = Napi::Promise::Deferred::New(env);
  if (!core_->machine) {
    deferred.Resolve(env.Undefined());
    return deferred.Promise();
  }
  core_->closers.push_back(deferred);
  core_->closing = true;
  if (core_->busy) {
    core_->machine->cancel();
  } else if (core_->may_close()) {
    core_->close_now(env);
  }
  return deferred.Promise();
}

}  // namespace shinken::addon
