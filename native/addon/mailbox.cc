#include "addon/mailbox.h"

#include <utility>

namespace shinken::addon {

Mailbox::Mailbox(Napi::Env env) : env_(env) {
  const napi_value name = Napi::String::New(env, "shinken");
  // Queue size 0 means unbounded, but at most one call is ever outstanding: `woken_` sees to it.
  const napi_status status = napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr,
                                                             nullptr, this, &Mailbox::deliver, &function_);
  if (status != napi_ok) {
    shut_ = true;
    return;
  }
  napi_unref_threadsafe_function(env, function_);
}

void Mailbox::post(Letter letter) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (shut_) return;
  letters_.push_back(std::move(letter));
  if (woken_) return;
  woken_ = napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking) == napi_ok;
}

void Mailbox::hold() {
  if (held_++ == 0 && !shut_) napi_ref_threadsafe_function(env_, function_);
}

void Mailbox::release() {
  if (--held_ == 0 && !shut_) napi_unref_threadsafe_function(env_, function_);
}

void Mailbox::shut() {
  std::vector<Letter> dropped;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (shut_) return;
    shut_ = true;
    dropped.swap(letters_);
  }
  napi_release_threadsafe_function(function_, napi_tsfn_abort);
}

void Mailbox::deliver(napi_env env, napi_value, void* context, void*) {
  if (env == nullptr) return;  // the environment is going away
  auto* self = static_cast<Mailbox*>(context);
  std::vector<Letter> letters;
  {
    const std::lock_guard<std::mutex> lock(self->mutex_);
    letters.swap(self->letters_);
    self->woken_ = false;
  }
  for (Letter& letter : letters) {
    const Napi::HandleScope scope(env);
    letter(env);
  }
}

}  // namespace shinken::addon
