#include "addon/options.h"

#include <cmath>
#include <cstring>

namespace shinken::addon {
namespace {

/// Largest integer that a JavaScript number holds exactly.
constexpr double kMaxSafeInteger = 9007199254740991.0;

size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest(const std::string& word, std::initializer_list<const char*> known) {
  std::string best;
  size_t least = 4;
  for (const char* candidate : known) {
    const size_t d = word.size() > 64 ? least : distance(word, candidate);
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

void throw_type(Napi::Env env, const std::string& message) {
  if (!env.IsExceptionPending()) Napi::TypeError::New(env, message).ThrowAsJavaScriptException();
}

std::optional<std::vector<u8>> bytes_of(Napi::Env env, const Napi::Value& value, const std::string& name,
                                        size_t low, size_t high) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    throw_type(env, name + " must be a Uint8Array");
    return std::nullopt;
  }
  const auto array = value.As<Napi::Uint8Array>();
  const size_t length = array.ByteLength();
  if (length < low || length > high) {
    throw_type(env, name + " must have " +
                        (low == high ? std::to_string(low)
                                     : "between " + std::to_string(low) + " and " + std::to_string(high)) +
                        " bytes, it has " + std::to_string(length));
    return std::nullopt;
  }
  // SAFETY: N-API bounds `Data()` by ByteLength; an empty or detached array may have a null pointer.
  const u8* data = array.Data();
  return length == 0 ? std::vector<u8>() : std::vector<u8>(data, data + length);
}

Options::Options(Napi::Env env, const Napi::Value& value, const char* what,
                 std::initializer_list<const char*> known)
    : env_(env), what_(what) {
  if (!value.IsObject() || value.IsFunction() || value.IsArray()) {
    ok_ = false;
    throw_type(env, what_ + " takes an object of options");
    return;
  }
  object_ = value.As<Napi::Object>();
  if (known.size() == 0) return;
  const Napi::Array keys = object_.GetPropertyNames();
  if (env.IsExceptionPending()) {
    ok_ = false;
    return;
  }
  for (u32 i = 0; i < keys.Length(); i++) {
    const Napi::Value key = keys[i];
    const std::string name = key.ToString().Utf8Value();
    bool found = false;
    for (const char* candidate : known) found = found || name == candidate;
    if (found) continue;
    const std::string hint = nearest(name, known);
    ok_ = false;
    throw_type(env, what_ + " has no option `" + name + "`" +
                        (hint.empty() ? "" : "; did you mean `" + hint + "`?"));
    return;
  }
}

void Options::fail(const char* key, const std::string& wanted) {
  if (ok_) throw_type(env_, what_ + ": `" + key + "` must be " + wanted);
  ok_ = false;
}

std::optional<Napi::Value> Options::get(const char* key) {
  if (!ok_) return std::nullopt;
  const Napi::Value value = object_.Get(key);
  if (env_.IsExceptionPending()) {
    ok_ = false;
    return std::nullopt;
  }
  if (value.IsUndefined()) return std::nullopt;
  return value;
}

bool Options::has(const char* key) {
  return get(key).has_value();
}

u64 Options::integer(const char* key, u64 low, u64 high, u64 fallback) {
  const auto value = get(key);
  if (!value) return fallback;
  const std::string wanted = "an integer between " + std::to_string(low) + " and " + std::to_string(high);
  if (value->IsBigInt()) {
    bool lossless = false;
    const u64 number = value->As<Napi::BigInt>().Uint64Value(&lossless);
    if (lossless && number >= low && number <= high) return number;
  } else if (value->IsNumber()) {
    const double number = value->As<Napi::Number>().DoubleValue();
    if (number >= 0 && number <= kMaxSafeInteger && std::floor(number) == number) {
      const u64 whole = static_cast<u64>(number);
      if (whole >= low && whole <= high) return whole;
    }
  }
  fail(key, wanted);
  return fallback;
}

u64 Options::required_integer(const char* key, u64 low, u64 high) {
  if (ok_ && !has(key)) fail(key, "given");
  return integer(key, low, high, low);
}

bool Options::boolean(const char* key, bool fallback) {
  const auto value = get(key);
  if (!value) return fallback;
  if (value->IsBoolean()) return value->As<Napi::Boolean>().Value();
  fail(key, "true or false");
  return fallback;
}

std::string Options::text(const char* key, size_t max_length, const std::string& fallback) {
  const auto value = get(key);
  if (!value) return fallback;
  if (value->IsString()) {
    std::string text = value->As<Napi::String>().Utf8Value();
    if (text.size() <= max_length && std::memchr(text.data(), 0, text.size()) == nullptr) return text;
  }
  fail(key, "a string without NUL of at most " + std::to_string(max_length) + " bytes");
  return fallback;
}

std::vector<u8> Options::bytes(const char* key, size_t low, size_t high) {
  const auto value = get(key);
  if (!value) return {};
  auto bytes = bytes_of(env_, *value, what_ + ": `" + key + "`", low, high);
  if (!bytes) {
    ok_ = false;
    return {};
  }
  return std::move(*bytes);
}

}  // namespace shinken::addon
