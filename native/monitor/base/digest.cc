#include "monitor/base/digest.h"

#include <cstring>

#include "monitor/base/bytes.h"

namespace shinken {
namespace {

// Odd constants with mixed bits: fractional parts of square roots of primes.
constexpr u64 kA = 0x6a09e667f3bcc909, kB = 0xbb67ae8584caa73b, kC = 0x3c6ef372fe94f82b,
              kD = 0xa54ff53a5f1d36f1;

[[gnu::always_inline]] inline u64 fold(u64 x, u64 y) {
  const unsigned __int128 p = static_cast<unsigned __int128>(x) * y;
  return static_cast<u64>(p) ^ static_cast<u64>(p >> 64);
}

[[gnu::always_inline]] inline u64 turn(u64 x, int by) {
  return x << by | x >> (64 - by);
}

[[gnu::always_inline]] inline u64 word(const u8* from) {
  if constexpr (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
    u64 w;
    std::memcpy(&w, from, sizeof w);
    return w;
  }
  return load_le<u64>(from);
}

struct Lanes {
  explicit Lanes(u64 seed) : a(seed ^ kA), b(turn(seed, 32) ^ kB) {}
  u64 a, b;
  // The rotated lane is added back so that a zero product forgets only its own block.
  [[gnu::always_inline]] void block(const u8* p) {
    a = fold(word(p) ^ a, word(p + 8) ^ kC) + turn(a, 23);
    b = fold(word(p + 16) ^ b, word(p + 24) ^ kD) + turn(b, 29);
  }
  [[gnu::always_inline]] Digest finish(u64 n) const {
    const u64 lo = fold(a ^ kD ^ n, turn(b, 17) ^ kA);
    const u64 hi = fold(b ^ kC, turn(a, 41) ^ kB ^ n);
    return {fold(lo ^ kB, hi ^ kC) ^ a, fold(hi ^ kA, lo ^ kD) ^ b};
  }
};

[[gnu::always_inline]] inline void four_pages(const u8* const* pages, Digest* hashes) {
  static_assert(kHashedAtOnce == 4);
  Lanes w{0}, x{0}, y{0}, z{0};
  for (u64 at = 0; at < kPageSize; at += 32) {
    w.block(pages[0] + at), x.block(pages[1] + at), y.block(pages[2] + at), z.block(pages[3] + at);
  }
  hashes[0] = w.finish(kPageSize), hashes[1] = x.finish(kPageSize);
  hashes[2] = y.finish(kPageSize), hashes[3] = z.finish(kPageSize);
}

#ifdef __x86_64__
/// The same with a multiplication that leaves the flags alone and takes any registers: a third faster.
[[gnu::target("bmi2")]] void four_pages_bmi2(const u8* const* pages, Digest* hashes) {
  four_pages(pages, hashes);
}
#endif

}  // namespace

Digest hash_bytes(std::span<const u8> bytes, u64 seed) {
  Lanes lanes{seed};
  const u8* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 32; p += 32, left -= 32) lanes.block(p);
  if (left > 0) {
    u8 tail[32] = {};
    std::memcpy(tail, p, left);
    lanes.block(tail);
  }
  return lanes.finish(bytes.size());
}

Digest hash_page(const u8* page) {
  return hash_bytes({page, kPageSize});
}

void hash_pages(const u8* const* pages, Digest* hashes) {
#ifdef __x86_64__
  static const bool bmi2 = __builtin_cpu_supports("bmi2");
  if (bmi2) return four_pages_bmi2(pages, hashes);
#endif
  four_pages(pages, hashes);
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
