#pragma once
// Little- and big-endian access to byte strings, and the cursor pair that serialises machine state.
#include <cstring>
#include <span>
#include <vector>

#include "monitor/base/types.h"

namespace shinken {

/// Reads an unsigned little-endian integer. SAFETY: `sizeof(T)` bytes at `from` are the caller's duty.
template <typename T>
T load_le(const u8* from) {
  T value = 0;
  for (unsigned i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | static_cast<T>(from[i]) << (8 * i));
  return value;
}

template <typename T>
void store_le(u8* to, T value) {
  for (unsigned i = 0; i < sizeof(T); ++i) to[i] = static_cast<u8>(value >> (8 * i));
}

/// Appends integers, little-endian, and byte strings.
class ByteWriter {
 public:
  template <typename T>
  void put(T value) {
    u8 bytes[sizeof(T)];
    store_le(bytes, value);
    out_.insert(out_.end(), bytes, bytes + sizeof(T));
  }
  void put_bytes(std::span<const u8> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  /// A length of 32 bits, then the bytes.
  void put_string(std::span<const u8> bytes) {
    put<u32>(static_cast<u32>(bytes.size()));
    put_bytes(bytes);
  }
  std::vector<u8> take() { return std::move(out_); }
  std::size_t size() const { return out_.size(); }

 private:
  std::vector<u8> out_;
};

/// Reads what ByteWriter wrote. A read past the end yields zeros and makes `ok()` false for good, so that a
/// loader checks once at the end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const u8> bytes) : bytes_(bytes) {}

  template <typename T>
  T get() {
    if (!need(sizeof(T))) return 0;
    T value = load_le<T>(bytes_.data() + at_);
    at_ += sizeof(T);
    return value;
  }
  void get_bytes(std::span<u8> to) {
    if (!need(to.size())) {
      std::memset(to.data(), 0, to.size());
      return;
    }
    std::memcpy(to.data(), bytes_.data() + at_, to.size());
    at_ += to.size();
  }
  /// A counted string of at most `limit` bytes; longer ones are an error.
  std::vector<u8> get_string(u32 limit) {
    const u32 length = get<u32>();
    if (length > limit || !need(length)) {
      ok_ = false;
      return {};
    }
    std::vector<u8> out(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
                        bytes_.begin() + static_cast<std::ptrdiff_t>(at_ + length));
    at_ += length;
    return out;
  }
  /// For values that are read whole but make no sense.
  void fail() { ok_ = false; }
  bool ok() const { return ok_; }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  bool need(std::size_t n) {
    if (ok_ && n <= bytes_.size() - at_) return true;
    ok_ = false;
    return false;
  }
  std::span<const u8> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace shinken
