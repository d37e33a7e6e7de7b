#pragma once
// Reads the fields of a JavaScript options object. Every precondition is checked here, before the monitor is
// called, and the message names the option. N-API exceptions are pending, never thrown in C++: after a
// failure `ok()` is false, and the caller returns to JavaScript at once.
#include <napi.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "monitor/base/types.h"

namespace shinken::addon {

class Options {
 public:
  /// `what` names the call in messages. A value that is no object, or a key outside `known`, is an error;
  /// where `known` is empty, keys are not looked at.
  Options(Napi::Env env, const Napi::Value& value, const char* what,
          std::initializer_list<const char*> known);

  bool ok() const { return ok_; }
  bool has(const char* key);

  /// Integer in [low, high]; `fallback` if absent.
  u64 integer(const char* key, u64 low, u64 high, u64 fallback);
  /// As above, but the option must be there.
  u64 required_integer(const char* key, u64 low, u64 high);
  bool boolean(const char* key, bool fallback);
  /// UTF-8 text without NUL, at most `max_length` bytes.
  std::string text(const char* key, size_t max_length, const std::string& fallback);
  /// Copy of a Uint8Array (or Buffer) of at least `low` and at most `high` bytes; empty if absent.
  std::vector<u8> bytes(const char* key, size_t low, size_t high);
  /// For what the caller itself finds wrong with an option.
  void refuse(const char* key, const std::string& wanted) { fail(key, wanted); }

 private:
  std::optional<Napi::Value> get(const char* key);
  void fail(const char* key, const std::string& wanted);

  Napi::Env env_;
  Napi::Object object_;
  std::string what_;
  bool ok_ = true;
};

/// Copies the bytes of a Uint8Array; nothing and a pending TypeError otherwise.
std::optional<std::vector<u8>> bytes_of(Napi::Env env, const Napi::Value& value, const std::string& name,
                                        size_t low, size_t high);

/// Throws a TypeError with this text in JavaScript.
void throw_type(Napi::Env env, const std::string& message);

}  // namespace shinken::addon
