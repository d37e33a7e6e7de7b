#pragma once
// The way from engine threads into JavaScript: one thread-safe function for each environment, woken once for
// all that has gathered since.
#include <napi.h>

#include <functional>
#include <mutex>
#include <vector>

namespace shinken::addon {

class Mailbox {
 public:
  using Letter = std::function<void(Napi::Env)>;

  explicit Mailbox(Napi::Env env);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Any thread: `letter` will be called once on the JavaScript thread, in the order of posting; after `shut`
  /// it is dropped, so a letter must own nothing that has to die on the JavaScript thread.
  void post(Letter letter);
  /// JavaScript thread: the event loop stays alive while something is held.
  void hold();
  void release();
  /// JavaScript thread, once, when the environment ends: nothing is delivered any more.
  void shut();

 private:
  static void deliver(napi_env env, napi_value, void* context, void*);

  std::mutex mutex_;
  std::vector<Letter> letters_;
  bool woken_ = false;
  bool shut_ = false;
  unsigned held_ = 0;
  napi_env env_;
  napi_threadsafe_function function_ = nullptr;
};

}  // namespace shinken::addon
