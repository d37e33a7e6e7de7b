// Freezing a machine, forking it between two runs, and its digest.
#include <utility>

#include "addon/config.h"
#include "addon/golden_object.h"
#include "addon/machine_object.h"
#include "addon/options.h"
#include "addon/tags.h"

namespace shinken::addon {
namespace {

/// Beyond any host's memory; what a log may hold is its owner's to say.
constexpr u64 kMaxCheckpointBytes = u64{1} << 40;

}  // namespace

std::optional<ForkRequest> fork_request(Napi::Env env, const Napi::Value& value, bool from_golden) {
  using Names = std::initializer_list<const char*>;
  // A machine's own forks have its kind of memory. A golden's are made on the JavaScript thread, where to
  // list the keys would take as long as the fork.
  Options options(env, value, "fork",
                  from_golden ? Names{} : Names{"kind", "generationId", "mac", "checkpointBytes"});
  const std::string kind = options.text("kind", 16, from_golden ? "replica" : "");
  const std::vector<u8> id = options.bytes("generationId", 16, 16);
  const std::vector<u8> mac = options.bytes("mac", MacAddress{}.size(), MacAddress{}.size());
  ForkRequest request;
  ForkOptions& result = request.options;
  if (from_golden) result.memory = memory_kind(options, "");
  if (options.has("checkpointBytes")) {
    request.checkpoint_bytes = options.integer("checkpointBytes", 1, kMaxCheckpointBytes, 1);
  }
  if (!options.ok()) return std::nullopt;
  if (kind == "replica" && from_golden) {
    result.kind = ForkKind::kReplica;
  } else if (kind == "branch" && !from_golden) {
    result.kind = ForkKind::kBranch;
  } else if (kind == "grade") {
    result.kind = ForkKind::kGrade;
  } else if (kind == "resume" && from_golden) {
    result.kind = ForkKind::kResume;
  } else {
    throw_type(env, std::string("fork: `kind` must be ") +
                        (from_golden ? "\"replica\", \"grade\" or \"resume\"" : "\"branch\" or \"grade\""));
    return std::nullopt;
  }
  if (result.kind == ForkKind::kGrade || result.kind == ForkKind::kResume) return request;
  if (id.empty()) {
    throw_type(env, "fork: `generationId` must be given, 16 bytes that no sibling has");
    return std::nullopt;
  }
  std::copy(id.begin(), id.end(), result.generation_id.begin());
  if (!mac.empty()) std::copy(mac.begin(), mac.end(), result.mac.emplace().begin());
  return request;
}

Napi::Value MachineObject::freeze(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!ready(info)) return env.Undefined();
  auto golden = std::make_shared<std::shared_ptr<Golden>>();
  core_->busy = true;
  return core_->environment->async(
      env, [golden, machine = core_->machine] { *golden = machine->freeze(); },
      [golden](Napi::Env env) { return GoldenObject::wrap(env, std::move(*golden)); },
      [env, core = core_] { core->finish_work(env); });
}

Napi::Value MachineObject::snapshot(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!ready(info)) return env.Undefined();
  auto live = std::make_shared<std::unique_ptr<LiveSnapshot>>();
  core_->busy = true;
  return core_->environment->async(
      env, [live, machine = core_->machine] { *live = Machine::snapshot(machine); },
      [live, core = core_](Napi::Env env) -> Napi::Value {
        auto golden = std::make_shared<std::shared_ptr<Golden>>();
        const Napi::Object result = Napi::Object::New(env);
        result.Set("golden",
                   core->environment->async(
                       env,
                       [live, golden] {
                         const auto snapshot = std::move(*live);
                         *golden = snapshot->finish();
                       },
                       [golden](Napi::Env env) { return GoldenObject::wrap(env, std::move(*golden)); },
                       [env, core] { core->finish_snapshot(env); }));
        return result;
      },
      [env, live, core = core_] {
        if (*live) ++core->snapshots;
        core->finish_work(env);
      });
}

Napi::Value MachineObject::fork(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!ready(info)) return env.Undefined();
  const auto request = fork_request(env, info[0], false);
  if (!request) return env.Undefined();
  auto log = request->log(core_->log ? core_->log->base() : nullptr);
  if (core_->machine->freezes_at_once()) {
    // Microseconds: cheaper here than a journey to an engine thread and back.
    const auto deferred = Napi::Promise::Deferred::New(env);
    try {
      auto child = Machine::fork(core_->machine->freeze(), request->options);
      deferred.Resolve(MachineObject::wrap(env, std::move(child), core_->base, log));
    } catch (...) {
      deferred.Reject(current_failure().to_error(env).Value());
    }
    return deferred.Promise();
  }
  auto child = std::make_shared<std::shared_ptr<Machine>>();
  core_->busy = true;
  return core_->environment->async(
      env,
      [child, machine = core_->machine, options = request->options] {
        *child = Machine::fork(machine->freeze(), options);
      },
      [child, log, base = core_->base](Napi::Env env) {
        return MachineObject::wrap(env, std::move(*child), base, log);
      },
      [env, core = core_] { core->finish_work(env); });
}

Napi::Value MachineObject::digest(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!ready(info)) return env.Undefined();
  auto digest = std::make_shared<Digest>();
  core_->busy = true;
  return core_->environment->async(
      env, [digest, machine = core_->machine] { *digest = machine->digest(); },
      [digest](Napi::Env env) -> Napi::Value { return Napi::String::New(env, digest->hex()); },
      [env, core = core_] { core->finish_work(env); });
}

Napi::Value MachineObject::share_code_with(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!ready(info)) return env.Undefined();
  const auto golden = GoldenObject::golden_of(env, info[0], "shareCodeWith: `golden`");
  if (!golden) return env.Undefined();
  core_->busy = true;
  return core_->environment->async(
      env, [golden, machine = core_->machine] { machine->share_code_with(*golden); },
      [](Napi::Env env) { return env.Undefined(); }, [env, core = core_] { core->finish_work(env); });
}

}  // namespace shinken::addon
