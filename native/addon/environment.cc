#include "addon/environment.h"

#include <new>
#include <optional>
#include <utility>

#include "addon/machine_run.h"

namespace shinken::addon {

Napi::Error Failure::to_error(Napi::Env env) const {
  const Napi::Error error = Napi::Error::New(env, message);
  error.Value().Set("code", Napi::String::New(env, code));
  return error;
}

Failure current_failure() {
  try {
    throw;
  } catch (const MonitorError& error) {
    return {error_name(error.kind()), error.what()};
  } catch (const std::bad_alloc&) {
    return {"no_memory", "the host refused memory"};
  } catch (const std::exception& error) {
    return {"internal", error.what()};
  } catch (...) {
    return {"internal", "an unknown exception"};
  }
}

void Environment::install(Napi::Env env) {
  auto* holder = new std::shared_ptr<Environment>(std::make_shared<Environment>(env));
  env.SetInstanceData<std::shared_ptr<Environment>>(holder);
  // Runs before N-API finalizes our objects: hooks run in the reverse order of their registration, and
  // N-API's own is older than any of ours.
  env.AddCleanupHook([](std::shared_ptr<Environment>* environment) { (*environment)->end(); }, holder);
}

std::shared_ptr<Environment> Environment::of(Napi::Env env) {
  return *env.GetInstanceData<std::shared_ptr<Environment>>();
}

Environment::Environment(Napi::Env env) : mailbox_(env) {}
Environment::~Environment() = default;

Engine& Environment::engine() {
  if (!engine_) engine_ = Engine::acquire();
  return *engine_;
}

u64 Environment::begin_work(std::shared_ptr<Machine> machine, std::shared_ptr<RunChannel> channel) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const u64 id = next_work_++;
  work_.emplace(id, Work{std::move(machine), std::move(channel)});
  return id;
}

void Environment::end_work(u64 id) {
  Work last;  // outlives the lock: its destructor may be long
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = work_.find(id);
  if (found != work_.end()) {
    last = std::move(found->second);
    work_.erase(found);
  }
  // Under the lock, so that `end` cannot return, and this object go, before the call is over.
  if (work_.empty()) idle_.notify_all();
}

u64 Environment::in_flight() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return work_.size();
}

Napi::Promise Environment::async(Napi::Env env, std::function<void()> work,
                                 std::function<Napi::Value(Napi::Env)> settle, std::function<void()> after) {
  const Napi::Promise::Deferred deferred = Napi::Promise::Deferred::New(env);
  const u64 id = begin_work();
  mailbox_.hold();
  auto self = shared_from_this();
  engine().post([self, id, deferred, work = std::move(work), settle = std::move(settle),
                 after = std::move(after)]() mutable {
    std::optional<Failure> failure;
    try {
      work();
    } catch (...) {
      failure = current_failure();
    }
    work = nullptr;
    // Before the letter, so that whoever sees the promise settle also sees the work gone; a letter after the
    // end is dropped by the mailbox.
    self->end_work(id);
    self->mailbox_.post(
        [self, deferred, failure, settle = std::move(settle), after = std::move(after)](Napi::Env env) {
          self->mailbox_.release();
          if (after) after();
          if (failure) {
            deferred.Reject(failure->to_error(env).Value());
            return;
          }
          const Napi::Value value = settle(env);
          if (env.IsExceptionPending()) {
            deferred.Reject(env.GetAndClearPendingException().Value());
          } else {
            deferred.Resolve(value);
          }
        });
  });
  return deferred.Promise();
}

void Environment::discard(std::shared_ptr<void> object) {
  if (!object) return;
  if (ended_ || !engine_) return;  // freed here, by the caller's reference going out of scope
  const u64 id = begin_work();
  auto self = shared_from_this();
  engine_->post([self, id, object = std::move(object)]() mutable {
    object.reset();
    self->end_work(id);
  });
}

void Environment::end() {
  mailbox_.shut();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    ended_ = true;
    for (const auto& [id, work] : work_) {
      if (work.channel) {
        const std::lock_guard<std::mutex> channel_lock(work.channel->mutex);
        work.channel->discarding = true;
        work.channel->drained.notify_all();
      }
      if (work.machine) work.machine->cancel();
    }
    // Every run stops at its next instruction boundary, and other work is finite.
    idle_.wait(lock, [this] { return work_.empty(); });
  }
  runs.clear();
  machine_constructor.Reset();
  golden_constructor.Reset();
  engine_.reset();
}

}  // namespace shinken::addon
