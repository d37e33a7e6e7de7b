#include "addon/golden_object.h"

#include <utility>

#include "addon/config.h"
#include "addon/machine_object.h"
#include "addon/options.h"
#include "addon/tags.h"
#include "monitor/snapshot/delta.h"
#include "monitor/snapshot/golden_inspect.h"

namespace shinken::addon {
namespace {

constexpr size_t kMaxNote = 64 * 1024;
/// Four bytes for each page of the largest RAM.
constexpr size_t kMaxOrderBytes = (kMaxMemoryMiB << 20 >> kPageShift) * sizeof(u32);

GoldenLayout layout_of(bool compress) {
  return compress ? GoldenLayout::kCompressed : GoldenLayout::kMapped;
}

/// The option `check`; nothing and a pending TypeError if it is another word.
std::optional<GoldenCheck> check_of(Napi::Env env, Options& options, const std::string& what) {
  const std::string check = options.text("check", 16, "full");
  if (!options.ok()) return std::nullopt;
  if (check == "full") return GoldenCheck::kFull;
  if (check == "index") return GoldenCheck::kIndex;
  throw_type(env, what + ": `check` must be \"full\" or \"index\"");
  return std::nullopt;
}

/// A path that must be given; empty and a pending TypeError if it is not.
std::string path_of(Napi::Env env, Options& options, const char* key, const std::string& what) {
  const std::string path = options.text(key, kMaxPath, "");
  if (options.ok() && path.empty()) throw_type(env, what + ": `" + key + "` must be given");
  return options.ok() ? path : "";
}

Napi::Object object_of(Napi::Env env, const GoldenFacts& facts) {
  const Napi::Object result = Napi::Object::New(env);
  result.Set("version", facts.version);
  result.Set("machineAbi", facts.machine_abi);
  result.Set("digest", facts.digest.hex());
  result.Set("compressed", facts.layout == GoldenLayout::kCompressed);
  result.Set("fileBytes", static_cast<double>(facts.file_bytes));
  result.Set("memoryBytes", static_cast<double>(facts.memory_bytes));
  result.Set("storedPages", static_cast<double>(facts.stored_pages));
  result.Set("differentPages", static_cast<double>(facts.bodies));
  result.Set("pageBytes", static_cast<double>(facts.body_bytes));
  result.Set("codePages", static_cast<double>(facts.code_pages));
  result.Set("codeBlocks", static_cast<double>(facts.code_blocks));
  const Napi::Array disks = Napi::Array::New(env, facts.disks.size());
  for (std::size_t i = 0; i < facts.disks.size(); ++i) {
    const Napi::Object disk = Napi::Object::New(env);
    disk.Set("bytes", static_cast<double>(facts.disks[i].size));
    disk.Set("identity", facts.disks[i].identity);
    disks.Set(static_cast<u32>(i), disk);
  }
  result.Set("disks", disks);
  result.Set("note", facts.note);
  return result;
}

}  // namespace

void GoldenObject::define(Napi::Env env) {
  const Napi::Function constructor =
      DefineClass(env, "Golden",
                  {
                      InstanceMethod<&GoldenObject::fork>("fork"),
                      InstanceMethod<&GoldenObject::save>("save"),
                      InstanceMethod<&GoldenObject::digest>("digest"),
                      InstanceMethod<&GoldenObject::decode_code>("decodeCode"),
                      InstanceMethod<&GoldenObject::prefetch>("prefetch"),
                      InstanceMethod<&GoldenObject::touched_pages>("touchedPages"),
                      InstanceMethod<&GoldenObject::facts>("facts"),
                      InstanceMethod<&GoldenObject::close>("close"),
                      InstanceAccessor<&GoldenObject::closed>("closed"),
                  });
  Environment::of(env)->golden_constructor = Napi::Persistent(constructor);
}

Napi::Value GoldenObject::wrap(Napi::Env env, std::shared_ptr<Golden> golden,
                               std::shared_ptr<const Golden> base) {
  const auto environment = Environment::of(env);
  environment->newborn_golden = std::move(golden);
  environment->newborn_base = std::move(base);
  const Napi::Object object = environment->golden_constructor.New({});
  environment->newborn_golden.reset();
  environment->newborn_base.reset();
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
  base_ = std::move(environment_->newborn_base);
  if (!base_) base_ = golden_;
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
  environment_->discard(std::const_pointer_cast<Golden>(std::move(base_)));
  golden_ = nullptr;
  base_ = nullptr;
}

std::shared_ptr<Golden> GoldenObject::mine(const Napi::CallbackInfo& info) {
  return golden_of(info.Env(), info.This(), "this");
}

Napi::Value GoldenObject::fork(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto golden = mine(info);
  if (!golden) return env.Undefined();
  const auto request = fork_request(env, info[0], true);
  if (!request) return env.Undefined();
  // Microseconds: cheaper here than a journey to an engine thread and back.
  try {
    return MachineObject::wrap(env, Machine::fork(golden, request->options), base_, request->log(golden));
  } catch (...) {
    current_failure().to_error(env).ThrowAsJavaScriptException();
    return env.Undefined();
  }
}

Napi::Value GoldenObject::save(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto golden = mine(info);
  if (!golden) return env.Undefined();
  Options options(env, info[0], "save", {"path", "note", "compress"});
  const std::string path = options.text("path", kMaxPath, "");
  const std::string note = options.text("note", kMaxNote, "");
  const GoldenLayout layout = layout_of(options.boolean("compress", false));
  if (!options.ok()) return env.Undefined();
  if (path.empty()) {
    throw_type(env, "save: `path` must be given");
    return env.Undefined();
  }
  return environment_->async(
      env, [golden, path, note, layout] { golden->save(path, note, layout); },
      [](Napi::Env env) { return env.Undefined(); });
}

Napi::Value GoldenObject::digest(const Napi::CallbackInfo& info) {
  const auto golden = mine(info);
  if (!golden) return info.Env().Undefined();
  auto digest = std::make_shared<Digest>();
  return environment_->async(
      info.Env(), [golden, digest] { *digest = golden->digest(); },
      [digest](Napi::Env env) -> Napi::Value { return Napi::String::New(env, digest->hex()); });
}

Napi::Value GoldenObject::decode_code(const Napi::CallbackInfo& info) {
  const auto golden = mine(info);
  if (!golden) return info.Env().Undefined();
  return environment_->async(
      info.Env(), [golden] { golden->decode_code(); }, [](Napi::Env env) { return env.Undefined(); });
}

Napi::Value GoldenObject::prefetch(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto golden = mine(info);
  if (!golden) return env.Undefined();
  Options options(env, info[0], "prefetch", {"order"});
  const std::vector<u8> bytes = options.bytes("order", 0, kMaxOrderBytes);
  if (!options.ok()) return env.Undefined();
  if (bytes.size() % sizeof(u32) != 0) {
    throw_type(env, "prefetch: `order` must be of four bytes a page");
    return env.Undefined();
  }
  std::vector<u32> order(bytes.size() / sizeof(u32));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = load_le<u32>(&bytes[i * sizeof(u32)]);
  // Without an order as they lie: all follow whatever comes first.
  if (order.empty()) order.push_back(0);
  golden->prefetch(std::move(order));
  return env.Undefined();
}

Napi::Value GoldenObject::touched_pages(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto golden = mine(info);
  if (!golden) return env.Undefined();
  const std::vector<u32> pages = golden->touched_pages();
  Napi::Uint8Array bytes = Napi::Uint8Array::New(env, pages.size() * sizeof(u32));
  for (std::size_t i = 0; i < pages.size(); ++i) store_le(bytes.Data() + i * sizeof(u32), pages[i]);
  return bytes;
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
  const std::string path = path_of(env, options, "path", "loadGolden");
  if (path.empty()) return env.Undefined();
  GoldenLoad load;
  const auto check = check_of(env, options, "loadGolden");
  if (!check) return env.Undefined();
  load.check = *check;
  const auto disks = disks_of(env, info[0].As<Napi::Object>().Get("disks"), "loadGolden");
  if (!disks) return env.Undefined();
  load.disks = *disks;
  auto golden = std::make_shared<std::shared_ptr<Golden>>();
  return Environment::of(env)->async(
      env, [golden, path, load] { *golden = Golden::load(path, load); },
      [golden](Napi::Env env) { return GoldenObject::wrap(env, std::move(*golden)); });
}

Napi::Value load_delta_file(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Options options(env, info[0], "loadDelta", {"path", "golden"});
  const std::string path = path_of(env, options, "path", "loadDelta");
  if (path.empty()) return env.Undefined();
  const auto golden =
      GoldenObject::golden_of(env, info[0].As<Napi::Object>().Get("golden"), "loadDelta: `golden`");
  if (!golden) return env.Undefined();
  auto state = std::make_shared<std::shared_ptr<Golden>>();
  return Environment::of(env)->async(
      env, [state, path, golden] { *state = load_delta(path, *golden); },
      [state, golden](Napi::Env env) { return GoldenObject::wrap(env, std::move(*state), golden); });
}

Napi::Value inspect_golden_file(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Options options(env, info[0], "inspectGolden", {"path", "check"});
  const std::string path = path_of(env, options, "path", "inspectGolden");
  if (path.empty()) return env.Undefined();
  const auto check = check_of(env, options, "inspectGolden");
  if (!check) return env.Undefined();
  auto facts = std::make_shared<GoldenFacts>();
  return Environment::of(env)->async(
      env, [facts, path, check] { *facts = inspect_golden(path, *check); },
      [facts](Napi::Env env) -> Napi::Value { return object_of(env, *facts); });
}

Napi::Value repack_golden_file(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Options options(env, info[0], "repackGolden", {"from", "to", "compress"});
  const std::string from = path_of(env, options, "from", "repackGolden");
  if (from.empty()) return env.Undefined();
  const std::string to = path_of(env, options, "to", "repackGolden");
  if (to.empty()) return env.Undefined();
  const GoldenLayout layout = layout_of(options.boolean("compress", false));
  if (!options.ok()) return env.Undefined();
  return Environment::of(env)->async(
      env, [from, to, layout] { repack_golden(from, to, layout); },
      [](Napi::Env env) { return env.Undefined(); });
}

}  // namespace shinken::addon
