#include "addon/golden_object.h"

#include <utility>

#include "addon/config.h"
#include "addon/machine_object.h"
#include "addon/options.h"
#include "addon/tags.h"

namespace shinken::addon {
namespace {

constexpr size_t kMaxNote = 64 * 1024;

}  // namespace

void GoldenObject::define(Napi::Env env) {
  const Napi::Function constructor = DefineClass(env, "Golden",
                                                 {
                                                     InstanceMethod<&GoldenObject::fork>("fork"),
                                                     InstanceMethod<&GoldenObject::save>("save"),
                                                     InstanceMethod<&GoldenObject::digest>("digest"),
                                                     InstanceMethod<&GoldenObject::facts>("facts"),
                                                     InstanceMethod<&GoldenObject::close>("close"),
                                                     InstanceAccessor<&GoldenObject::closed>("closed"),
                                                 });
  Environment::of(env)->golden_constructor = Napi::Persistent(constructor);
}

Napi::Value GoldenObject::wrap(Napi::Env env, std::shared_ptr<Golden> golden) {
  const auto environment = Environment::of(env);
  environment->newborn_golden = std::move(golden);
  const Napi::Object object = environment->golden_constructor.New({});
  environment->newborn_golden.reset();
  return object;
}

std::shared_ptr<Golden> GoldenObject::golden_of(Napi::Env env, const Napi::Value& value,
                                                const std::string& name) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kGoldenTag)) {
    throw_type(env, name + " must be a Golden");
    return nullptr;
  }
  // SAFETY: only our constructor tags an object, and it wraps it first.
  const auto golden = Unwrap(value.As<Napi::Object>())->golden_;
  if (!golden) Failure{"closed", "the golden was closed"}.to_error(env).ThrowAsJavaScriptException();
  return golden;
}

GoldenObject::GoldenObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  environment_ = Environment::of(info.Env());
  if (!environment_->newborn_golden) {
    throw_type(info.Env(), "a Golden is made by freeze or by loadGolden, not by `new`");
    return;
  }
  golden_ = std::move(environment_->newborn_golden);
  environment_->count.goldens++;
  info.This().As<Napi::Object>().TypeTag(&kGoldenTag);
}

void GoldenObject::Finalize(Napi::Env) {
  drop();
}

void GoldenObject::drop() {
  if (!golden_) return;
  environment_->count.goldens--;
  environment_->discard(std::move(golden_));
  golden_ = nullptr;
}

std::shared_ptr<Golden> GoldenObject::mine(const Napi::CallbackInfo& info) {
  return golden_of(info.Env(), info.This(), "this");
}

Napi::Value GoldenObject::fork(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto golden = mine(info);
  if (!golden) return env.Undefined();
  const auto options = fork_options(env, info[0], true);
  if (!options) return env.Undefined();
  // Microseconds: cheaper here than a journey to an engine thread and back.
  try {
    return MachineObject::wrap(env, Machine::fork(golden, *options));
  } catch (...) {
    current_failure().to_error(env).ThrowAsJavaScriptException();
    return env.Undefined();
  }
}

Napi::Value GoldenObject::save(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto golden = mine(info);
  if (!golden) return env.Undefined();
  Options options(env, info[0], "save", {"path", "note"});
  const std::string path = options.text("path", kMaxPath, "");
  const std::string note = options.text("note", kMaxNote, "");
  if (!options.ok()) return env.Undefined();
  if (path.empty()) {
    throw_type(env, "save: `path` must be given");
    return env.Undefined();
  }
  return environment_->async(
      env, [golden, path, note] { golden->save(path, note); }, [](Napi::Env env) { return env.Undefined(); });
}

Napi::Value GoldenObject::digest(const Napi::CallbackInfo& info) {
  const auto golden = mine(info);
  if (!golden) return info.Env().Undefined();
  auto digest = std::make_shared<Digest>();
  return environment_->async(
      info.Env(), [golden, digest] { *digest = golden->digest(); },
      [digest](Napi::Env env) -> Napi::Value { return Napi::String::New(env, digest->hex()); });
}

Napi::Value GoldenObject::facts(const Napi::CallbackInfo& info) {
  const auto golden = mine(info);
  if (!golden) return info.Env().Undefined();
  const Napi::Object result = Napi::Object::New(info.Env());
  result.Set("memoryBytes", static_cast<double>(golden->memory_bytes()));
  result.Set("storedPages", static_cast<double>(golden->stored_pages()));
  result.Set("instructions", static_cast<double>(golden->instret()));
  result.Set("ticks", static_cast<double>(golden->ticks()));
  result.Set("note", golden->note());
  result.Set("hasCode", golden->has_code());
  return result;
}

Napi::Value GoldenObject::close(const Napi::CallbackInfo& info) {
  if (info.This().IsObject() && info.This().As<Napi::Object>().CheckTypeTag(&kGoldenTag)) {
    drop();
  } else {
    throw_type(info.Env(), "this is not a Golden");
  }
  return info.Env().Undefined();
}

Napi::Value GoldenObject::closed(const Napi::CallbackInfo& info) {
  if (info.This().IsObject() && info.This().As<Napi::Object>().CheckTypeTag(&kGoldenTag)) {
    return Napi::Boolean::New(info.Env(), !golden_);
  }
  throw_type(info.Env(), "this is not a Golden");
  return info.Env().Undefined();
}

Napi::Value load_golden(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Options options(env, info[0], "loadGolden", {"path", "disks", "check"});
  const std::string path = options.text("path", kMaxPath, "");
  const std::string check = options.text("check", 16, "full");
  if (!options.ok()) return env.Undefined();
  if (path.empty() || (check != "full" && check != "index")) {
    throw_type(env, path.empty() ? "loadGolden: `path` must be given"
                                 : "loadGolden: `check` must be \"full\" or \"index\"");
    return env.Undefined();
  }
  GoldenLoad load;
  load.check = check == "full" ? GoldenCheck::kFull : GoldenCheck::kIndex;
  const auto disks = disks_of(env, info[0].As<Napi::Object>().Get("disks"), "loadGolden");
  if (!disks) return env.Undefined();
  load.disks = *disks;
  auto golden = std::make_shared<std::shared_ptr<Golden>>();
  return Environment::of(env)->async(
      env, [golden, path, load] { *golden = Golden::load(path, load); },
      [golden](Napi::Env env) { return GoldenObject::wrap(env, std::move(*golden)); });
}

}  // namespace shinken::addon
