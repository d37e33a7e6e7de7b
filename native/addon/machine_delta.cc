// A machine's state as its difference from its golden, and as its difference from another machine's.
#include <array>
#include <utility>

#include "addon/config.h"
#include "addon/golden_object.h"
#include "addon/machine_object.h"
#include "addon/options.h"
#include "addon/tags.h"
#include "monitor/snapshot/delta.h"
#include "monitor/snapshot/state_difference.h"

namespace shinken::addon {
namespace {

constexpr u64 kMaxStep = u64{1} << 53;
constexpr size_t kMaxNote = 64 * 1024;

Napi::Object object_of(Napi::Env env, const DeltaFacts& facts) {
  const Napi::Object result = Napi::Object::New(env);
  result.Set("digest", facts.digest.hex());
  result.Set("pages", static_cast<double>(facts.pages));
  result.Set("bytes", static_cast<double>(facts.bytes));
  return result;
}

Napi::Object object_of(Napi::Env env, const StateDifference& difference) {
  const Napi::Object result = Napi::Object::New(env);
  result.Set("equal", difference.equal());
  const Napi::Array registers = Napi::Array::New(env, difference.registers.size());
  for (u32 i = 0; i < difference.registers.size(); ++i) {
    const auto& [name, one, other] = difference.registers[i];
    const Napi::Object each = Napi::Object::New(env);
    each.Set("name", name);
    each.Set("one", Napi::BigInt::New(env, u64{one}));
    each.Set("other", Napi::BigInt::New(env, u64{other}));
    registers.Set(i, each);
  }
  result.Set("registers", registers);
  const Napi::Array devices = Napi::Array::New(env, difference.devices.size());
  for (u32 i = 0; i < difference.devices.size(); ++i) devices.Set(i, difference.devices[i]);
  result.Set("devices", devices);
  result.Set("pages", static_cast<double>(difference.pages));
  const Napi::Array first = Napi::Array::New(env, difference.first_pages.size());
  for (u32 i = 0; i < difference.first_pages.size(); ++i) {
    first.Set(i, static_cast<double>(difference.first_pages[i]));
  }
  result.Set("firstPages", first);
  return result;
}

}  // namespace

Napi::Value MachineObject::save_delta(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!ready(info)) return env.Undefined();
  Options options(env, info[0], "saveDelta", {"path", "step", "note", "compress"});
  const std::string path = options.text("path", kMaxPath, "");
  const bool kept = options.has("step");
  const u64 step = options.integer("step", 0, kMaxStep, 0);
  DeltaSave how{options.text("note", kMaxNote, ""), std::nullopt};
  if (options.has("compress")) how.compress = options.boolean("compress", false);
  if (!options.ok()) return env.Undefined();
  if (path.empty()) {
    throw_type(env, "saveDelta: `path` must be given");
    return env.Undefined();
  }
  if (kept && !keeps(info)) return env.Undefined();
  if (!core_->base) {
    Failure{"invalid_config", "the machine was forked from no golden"}
        .to_error(env)
        .ThrowAsJavaScriptException();
    return env.Undefined();
  }
  auto facts = std::make_shared<DeltaFacts>();
  core_->busy = true;
  return core_->environment->async(
      env,
      [facts, machine = core_->machine, base = core_->base, log = core_->log, path, kept, step, how] {
        u64 changed = 0;
        const auto state = kept ? log->find(step) : machine->checkpoint(base.get(), &changed);
        *facts = shinken::save_delta(*state, *base, path, how);
      },
      [facts](Napi::Env env) -> Napi::Value { return object_of(env, *facts); },
      [env, core = core_] { core->finish_work(env); });
}

Napi::Value MachineObject::compare(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  struct Side {
    std::shared_ptr<MachineCore> core;  // null: a golden
    std::shared_ptr<const Golden> golden;
  };
  std::array<Side, 2> sides;
  for (u32 i = 0; i < sides.size(); ++i) {
    if (info[i].IsObject() && info[i].As<Napi::Object>().CheckTypeTag(&kMachineTag)) {
      // SAFETY: only our constructor tags an object, and it wraps it first.
      sides[i].core = Unwrap(info[i].As<Napi::Object>())->core_;
      if (!ready(env, *sides[i].core)) return env.Undefined();
    } else {
      sides[i].golden = GoldenObject::golden_of(
          env, info[i], std::string("compareStates: `") + (i == 0 ? "one" : "other") + "`, if no Machine,");
      if (!sides[i].golden) return env.Undefined();
    }
  }
  auto found = std::make_shared<StateDifference>();
  for (const Side& side : sides) {
    if (side.core) side.core->busy = true;
  }
  std::array<std::shared_ptr<Machine>, 2> machines;
  for (u32 i = 0; i < sides.size(); ++i) {
    if (sides[i].core) machines[i] = sides[i].core->machine;
  }
  const auto goldens = std::array{sides[0].golden, sides[1].golden};
  return Environment::of(env)->async(
      env,
      [found, machines, goldens] {
        auto frozen = goldens;
        for (u32 i = 0; i < frozen.size(); ++i) {
          if (machines[i]) frozen[i] = machines[i]->freeze();
        }
        *found = compare_states(*frozen[0], *frozen[1]);
      },
      [found](Napi::Env env) -> Napi::Value { return object_of(env, *found); },
      [env, one = sides[0].core, other = sides[1].core] {
        if (one) one->finish_work(env);
        if (other && other != one) other->finish_work(env);
      });
}

}  // namespace shinken::addon
