// The addon's face. Its types are in src/sandbox/microvm/addon.ts.
#include <napi.h>

#include "addon/config.h"
#include "addon/environment.h"
#include "addon/golden_object.h"
#include "addon/machine_object.h"
#include "monitor/base/error.h"
#include "monitor/memory/machine_memory.h"
#include "monitor/memory/userfault.h"

namespace shinken::addon {
namespace {

Napi::Object times_to_js(Napi::Env env, const TimeHistogram& times) {
  const Napi::Object result = Napi::Object::New(env);
  const Napi::Array counts = Napi::Array::New(env, times.counts.size());
  for (u32 i = 0; i < times.counts.size(); i++) counts.Set(i, static_cast<double>(times.counts[i]));
  result.Set("counts", counts);
  result.Set("count", static_cast<double>(times.count));
  result.Set("seconds", static_cast<double>(times.sum_ns) / 1e9);
  return result;
}

Napi::Object priority_to_js(Napi::Env env, const PriorityStats& stats) {
  const Napi::Object result = Napi::Object::New(env);
  result.Set("queued", static_cast<double>(stats.queued));
  result.Set("running", static_cast<double>(stats.running));
  result.Set("waited", times_to_js(env, stats.waited));
  result.Set("ran", times_to_js(env, stats.ran));
  return result;
}

/// What this environment, the process's engine and all guest memory hold now; for metrics and leak tests.
Napi::Value engine_stats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto environment = Environment::of(env);
  const auto& engine = environment->engine_if_any();
  const EngineStats stats = engine ? engine->stats() : EngineStats{};
  const Napi::Object result = Napi::Object::New(env);
  result.Set("machines", static_cast<double>(environment->count.machines));
  result.Set("goldens", static_cast<double>(environment->count.goldens));
  result.Set("inFlight", static_cast<double>(environment->in_flight()));
  result.Set("threads", stats.threads);
  result.Set("queued", static_cast<double>(stats.queued));
  result.Set("running", static_cast<double>(stats.running));
  result.Set("waiting", static_cast<double>(stats.waiting));
  result.Set("turns", static_cast<double>(stats.turns));
  result.Set("preempted", static_cast<double>(stats.preempted));
  result.Set("codeBytes", static_cast<double>(stats.code_bytes));
  result.Set("cachesDropped", static_cast<double>(stats.caches_dropped));
  const Napi::Array bounds = Napi::Array::New(env, TimeHistogram::kBounds.size());
  for (u32 i = 0; i < TimeHistogram::kBounds.size(); i++) {
    bounds.Set(i, static_cast<double>(TimeHistogram::kBounds[i]) / 1e9);
  }
  result.Set("timeBounds", bounds);
  const Napi::Object priorities = Napi::Object::New(env);
  priorities.Set("ordinary", priority_to_js(env, stats.priorities[static_cast<size_t>(Priority::kOrdinary)]));
  priorities.Set("grade", priority_to_js(env, stats.priorities[static_cast<size_t>(Priority::kGrade)]));
  result.Set("priorities", priorities);
  const MemoryStats memory = memory_stats();
  result.Set("livePages", static_cast<double>(memory.live_pages));
  result.Set("liveBytes", static_cast<double>(memory.live_pages << kPageShift));
  result.Set("heldBytes", static_cast<double>(memory.mapped_pages << kPageShift));
  result.Set("tables", static_cast<double>(memory.tables));
  result.Set("filePages", static_cast<double>(memory.file_pages));
  result.Set("flatBytes", static_cast<double>(memory.flat_pages << kPageShift));
  result.Set("hugeBytes", static_cast<double>(memory.huge_bytes));
  result.Set("paths", paths_object(env, all_paths()));
  result.Set("checkpoints", checkpoint_totals(env));
  return result;
}

/// `dropCaches()`: machines at rest let go of their decoded code; freed memory goes back to the host.
Napi::Value drop_caches(const Napi::CallbackInfo& info) {
  const auto environment = Environment::of(info.Env());
  return environment->async(
      info.Env(), [&engine = environment->engine()] { engine.drop_caches(); },
      [](Napi::Env env) { return env.Undefined(); });
}

/// `hostMemory()`: what this host grants flat guest memory.
Napi::Value host_memory(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Napi::Object result = Napi::Object::New(env);
  try {
    const auto faults = Userfault::shared();
    result.Set("refusal", env.Null());
    result.Set("writeScan", faults->has_scan());
    result.Set("coldGoldens", faults->can_serve());
    result.Set("hugePages", host_grants_huge_pages());
  } catch (const MonitorError& error) {
    result.Set("refusal", std::string(error.what()));
    for (const char* what : {"writeScan", "coldGoldens", "hugePages"}) result.Set(what, false);
  }
  return result;
}

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  Environment::install(env);
  MachineObject::define(env);
  GoldenObject::define(env);
  exports.Set("Machine", Environment::of(env)->machine_constructor.Value());
  exports.Set("Golden", Environment::of(env)->golden_constructor.Value());
  exports.Set("bootMachine", Napi::Function::New(env, boot_machine, "bootMachine"));
  exports.Set("loadGolden", Napi::Function::New(env, load_golden, "loadGolden"));
  exports.Set("loadDelta", Napi::Function::New(env, load_delta_file, "loadDelta"));
  exports.Set("compareStates", Napi::Function::New(env, MachineObject::compare, "compareStates"));
  exports.Set("inspectGolden", Napi::Function::New(env, inspect_golden_file, "inspectGolden"));
  exports.Set("repackGolden", Napi::Function::New(env, repack_golden_file, "repackGolden"));
  exports.Set("joinMachines", Napi::Function::New(env, MachineObject::join, "joinMachines"));
  exports.Set("dropCaches", Napi::Function::New(env, drop_caches, "dropCaches"));
  exports.Set("hostMemory", Napi::Function::New(env, host_memory, "hostMemory"));
  exports.Set("engineStats", Napi::Function::New(env, engine_stats, "engineStats"));
  exports.Set("machineAbi", kMachineAbi);
  return exports;
}

}  // namespace
}  // namespace shinken::addon

/// Called once for each environment that loads the addon.
static Napi::Object shinken_addon_start(Napi::Env env, Napi::Object exports) {
  return shinken::addon::initialize(env, exports);
}

NODE_API_MODULE(shinken, shinken_addon_start)
