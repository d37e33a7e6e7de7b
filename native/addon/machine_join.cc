// Machines on one switch, and their cable.
#include <utility>

#include "addon/machine_object.h"
#include "addon/options.h"
#include "addon/tags.h"
#include "monitor/net/switch.h"

namespace shinken::addon {

Napi::Value MachineObject::join(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const u32 most = EthernetSwitch::kMaxPorts;
  if (!info[0].IsArray() || info[0].As<Napi::Array>().Length() > most) {
    throw_type(env, "joinMachines: `machines` must be an array of at most " + std::to_string(most));
    return env.Undefined();
  }
  const Napi::Array array = info[0].As<Napi::Array>();
  std::vector<std::shared_ptr<Machine>> machines;
  std::vector<std::shared_ptr<MachineCore>> cores;
  for (u32 i = 0; i < array.Length(); i++) {
    const Napi::Value value = array[i];
    if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kMachineTag)) {
      throw_type(env, "joinMachines: machines[" + std::to_string(i) + "] must be a Machine");
      return env.Undefined();
    }
    // SAFETY: only our constructor tags an object, and it wraps it first.
    cores.push_back(Unwrap(value.As<Napi::Object>())->core_);
    if (!ready(env, *cores.back())) return env.Undefined();
    machines.push_back(cores.back()->machine);
  }
  // Nothing is run: cheaper here than a journey to an engine thread and back.
  try {
    Machine::join(machines);
  } catch (...) {
    current_failure().to_error(env).ThrowAsJavaScriptException();
    return env.Undefined();
  }
  const auto joined = std::make_shared<std::vector<std::weak_ptr<MachineCore>>>(cores.begin(), cores.end());
  for (const auto& core : cores) core->joined = joined;
  return env.Undefined();
}

Napi::Value MachineObject::part(const Napi::CallbackInfo& info) {
  if (!ready(info)) return info.Env().Undefined();
  core_->machine->part();
  core_->joined.reset();
  return info.Env().Undefined();
}

Napi::Value MachineObject::set_link(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!ready(info)) return env.Undefined();
  if (!info[0].IsBoolean()) {
    throw_type(env, "setLink: `up` must be true or false");
    return env.Undefined();
  }
  core_->machine->set_link(info[0].As<Napi::Boolean>().Value());
  return env.Undefined();
}

}  // namespace shinken::addon
