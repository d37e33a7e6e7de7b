#include "monitor/memory/page_table.h"

namespace shinken {

void Leaf::drop() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (Page* p : page) {
    if (p != nullptr) p->drop();
  }
  delete this;
}

Leaf* Leaf::copy() const {
  Leaf* twin = new Leaf(pool);
  for (u64 i = 0; i < kFan; ++i) {
    twin->page[i] = page[i];
    if (page[i] != nullptr) page[i]->keep();
  }
  const bool known = summed.load(std::memory_order_acquire);
  twin->sum_lo.store(known ? sum_lo.load(std::memory_order_relaxed) : 0, std::memory_order_relaxed);
  twin->sum_hi.store(known ? sum_hi.load(std::memory_order_relaxed) : 0, std::memory_order_relaxed);
  twin->summed.store(known, std::memory_order_relaxed);
  return twin;
}

void Leaf::unsum(u64 i, u64 page_number) {
  if (page[i] == nullptr || !summed.load(std::memory_order_relaxed)) return;
  if (!page[i]->hashed.load(std::memory_order_acquire)) {
    summed.store(false, std::memory_order_relaxed);
    return;
  }
  const Digest share = page_share(page_number, page[i]->content_hash());
  sum_lo.store(sum_lo.load(std::memory_order_relaxed) - share.lo, std::memory_order_relaxed);
  sum_hi.store(sum_hi.load(std::memory_order_relaxed) - share.hi, std::memory_order_relaxed);
}

Digest Leaf::clean_sum(u64 first) {
  if (summed.load(std::memory_order_acquire)) {
    return {sum_lo.load(std::memory_order_relaxed), sum_hi.load(std::memory_order_relaxed)};
  }
  Digest sum;
  Page* clean[kFan];
  for (u64 i = 0; i < kFan; ++i) clean[i] = (dirty >> i & 1) != 0 ? nullptr : page[i];
  hash_contents(clean);
  for (u64 i = 0; i < kFan; ++i) {
    if (clean[i] == nullptr) continue;
    const Digest share = page_share(first + i, page[i]->content_hash());
    sum.lo += share.lo;
    sum.hi += share.hi;
  }
  sum_lo.store(sum.lo, std::memory_order_relaxed);
  sum_hi.store(sum.hi, std::memory_order_relaxed);
  summed.store(true, std::memory_order_release);
  return sum;
}

void Mid::drop() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (Leaf* l : leaf) {
    if (l != nullptr) l->drop();
  }
  delete this;
}

Mid* Mid::copy() const {
  Mid* twin = new Mid(pool);
  for (u64 i = 0; i < kFan; ++i) {
    twin->leaf[i] = leaf[i];
    if (leaf[i] != nullptr) leaf[i]->keep();
  }
  return twin;
}

}  // namespace shinken
