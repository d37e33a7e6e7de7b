#pragma once
// A golden as a JavaScript object.
#include <napi.h>

#include <memory>
#include <string>

#include "addon/environment.h"

namespace shinken::addon {

class GoldenObject final : public Napi::ObjectWrap<GoldenObject> {
 public:
  static void define(Napi::Env env);
  /// `base`: what the states of its forks are told as a difference from; unsaid, itself.
  static Napi::Value wrap(Napi::Env env, std::shared_ptr<Golden> golden,
                          std::shared_ptr<const Golden> base = nullptr);
  /// The golden inside an argument; null and a pending exception if it is something else or closed.
  static std::shared_ptr<Golden> golden_of(Napi::Env env, const Napi::Value& value, const std::string& name);

  explicit GoldenObject(const Napi::CallbackInfo& info);
  void Finalize(Napi::Env env) override;

 private:
  /// The open golden of `this`; null and a pending exception otherwise.
  std::shared_ptr<Golden> mine(const Napi::CallbackInfo& info);

  Napi::Value fork(const Napi::CallbackInfo& info);
  Napi::Value save(const Napi::CallbackInfo& info);
  Napi::Value digest(const Napi::CallbackInfo& info);
  Napi::Value decode_code(const Napi::CallbackInfo& info);
  Napi::Value prefetch(const Napi::CallbackInfo& info);
  Napi::Value touched_pages(const Napi::CallbackInfo& info);
  Napi::Value facts(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);
  Napi::Value closed(const Napi::CallbackInfo& info);
  void drop();

  std::shared_ptr<Environment> environment_;
  std::shared_ptr<Golden> golden_;
  std::shared_ptr<const Golden> base_;
};

/// `loadGolden({path, disks?, check?})`.
Napi::Value load_golden(const Napi::CallbackInfo& info);
/// `loadDelta({path, golden})`.
Napi::Value load_delta_file(const Napi::CallbackInfo& info);
/// `inspectGolden({path, check?})`.
Napi::Value inspect_golden_file(const Napi::CallbackInfo& info);
/// `repackGolden({from, to, compress?})`.
Napi::Value repack_golden_file(const Napi::CallbackInfo& info);

}  // namespace shinken::addon
