// A machine's state at rest as the next link of a chain of frozen states.
#include <vector>

#include "monitor/machine/machine_impl.h"
#include "monitor/snapshot/golden_impl.h"

namespace shinken {
namespace {

/// Sum of the shares of `image`, told from that of an earlier one by the pages that differ.
Digest sum_since(const MemoryImage& image, Golden::Impl& since, u64* changed) {
  const MemoryImage& before = *since.image;
  Digest sum = since.memory_sum();
  std::vector<Page*> others;
  image.for_each_difference(before, [&](u64, Page* page) { others.push_back(page); });
  hash_contents(others);
  image.for_each_difference(before, [&](u64 number, Page* page) {
    Page* old = before.find(number);
    const Digest now = page == nullptr ? zero_page_hash() : page->content_hash();
    const Digest then = old == nullptr ? zero_page_hash() : old->content_hash();
    if (now == then) return;
    const Digest in = page_share(number, now), out = page_share(number, then);
    sum.lo += in.lo - out.lo;
    sum.hi += in.hi - out.hi;
    ++*changed;
  });
  return sum;
}

}  // namespace

std::shared_ptr<Golden> Machine::checkpoint(const Golden* since, u64* changed) {
  const std::lock_guard in_use(impl_->rest);
  impl_->check_at_rest();
  if (since != nullptr && since->impl().image->pages() != impl_->memory->pages()) {
    throw MonitorError(ErrorKind::kInvalidConfig, "a checkpoint follows a state of as much memory");
  }
  auto golden = impl_->golden_parts();
  golden->image = impl_->memory->checkpoint();
  // Its write translations point into pages that are shared from here on.
  impl_->hart->drop_translations();
  impl_->publish();
  *changed = 0;
  if (since != nullptr) {
    golden->sum = sum_since(*golden->image, since->impl(), changed);
  } else {
    golden->sum = golden->image->sum();
    golden->image->for_each_page([&](u64, Page& page) {
      if (page.content_hash() != zero_page_hash()) ++*changed;
    });
  }
  golden->digest = machine_digest(golden->state, golden->image->pages(), *golden->sum);
  return std::make_shared<Golden>(std::move(golden));
}

}  // namespace shinken
