#include "monitor/base/digest.h"

#include <cstring>

#include "monitor/base/bytes.h"

namespace shinken {
namespace {

// Odd constants with mixed bits: fractional parts of square roots of primes.
constexpr u64 kA = 0x6a09e667f3bcc909, kB = 0xbb67ae8584caa73b, kC = 0x3c6ef372fe94f82b,
              kD = 0xa54ff53a5f1d36f1;

u64 fold(u64 x, u64 y) {
  const unsigned __int128 p = static_cast<unsigned __int128>(x) * y;
  return static_cast<u64>(p) ^ static_cast<u64>(p >> 64);
}

u64 turn(u64 x, int by) {
  return x << by | x >> (64 - by);
}

u64 word(const u8* from) {
  if constexpr (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
    u64 w;
    std::memcpy(&w, from, sizeof w);
    return w;
  }
  return load_le<u64>(from);
}

struct Lanes {
  u64 a, b;
  // The rotated lane is added back so that a zero product forgets only its own block.
  void block(const u8* p) {
    a = fold(word(p) ^ a, word(p + 8) ^ kC) + turn(a, 23);
    b = fold(word(p + 16) ^ b, word(p + 24) ^ kD) + turn(b, 29);
  }
};

}  // namespace

Digest hash_bytes(std::span<const u8> bytes, u64 seed) {
  Lanes lanes{seed ^ kA, turn(seed, 32) ^ kB};
  const u8* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 32; p += 32, left -= 32) lanes.block(p);
  if (left > 0) {
    u8 tail[32] = {};
    std::memcpy(tail, p, left);
    lanes.block(tail);
  }
  const u64 n = bytes.size();
  const u64 lo = fold(lanes.a ^ kD ^ n, turn(lanes.b, 17) ^ kA);
  const u64 hi = fold(lanes.b ^ kC, turn(lanes.a, 41) ^ kB ^ n);
  return {fold(lo ^ kB, hi ^ kC) ^ lanes.a, fold(hi ^ kA, lo ^ kD) ^ lanes.b};
}

Digest hash_page(const u8* page) {
  return hash_bytes({page, kPageSize});
}

const Digest& zero_page_hash() {
  static const Digest hash = [] {
    static const u8 zeros[kPageSize] = {};
    return hash_page(zeros);
  }();
  return hash;
}

Digest page_share(u64 page_number, const Digest& content) {
  if (content == zero_page_hash()) return {};
  const u64 n = (page_number + 1) * kC;
  return {fold(content.lo ^ n, content.hi ^ kA) ^ turn(content.hi, 13),
          fold(content.hi ^ turn(n, 32), content.lo ^ kB) ^ turn(content.lo, 37)};
}

std::string Digest::hex() const {
  static const char digits[] = "0123456789abcdef";
  std::string out(32, '0');
  for (unsigned i = 0; i < 16; ++i) {
    out[i] = digits[hi >> (60 - 4 * i) & 15];
    out[16 + i] = digits[lo >> (60 - 4 * i) & 15];
  }
  return out;
}

}  // namespace shinken
