#pragma once
// 128-bit content hashes: fast, fixed for ever (part of the golden format), not cryptographic. They detect
// damage and divergence, not an attacker who can compute.
#include <compare>
#include <span>
#include <string>

#include "monitor/base/types.h"

namespace shinken {

struct Digest {
  u64 lo = 0;
  u64 hi = 0;
  auto operator<=>(const Digest&) const = default;
  /// 32 lower-case hex digits, `hi` first.
  std::string hex() const;
};

/// Hash of any bytes; independent of host byte order and alignment.
Digest hash_bytes(std::span<const u8> bytes, u64 seed = 0);
/// Same value as `hash_bytes` of the 4 KiB at `page`.
Digest hash_page(const u8* page);
/// Pages that are best hashed at once: one page's multiplications wait for each other, those of several do
/// not.
inline constexpr unsigned kHashedAtOnce = 4;
/// `hash_page` of each of the `kHashedAtOnce` pages, in half the time.
void hash_pages(const u8* const* pages, Digest* hashes);
/// Share of one page in the multiset hash of a memory: nothing for a page of zeros, so that untouched and
/// zeroed pages are alike. Shares are added lane by lane modulo 2^64.
Digest page_share(u64 page_number, const Digest& content);
/// `hash_page` of 4 KiB of zeros.
const Digest& zero_page_hash();

}  // namespace shinken
