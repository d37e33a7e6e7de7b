#include "monitor/snapshot/golden.h"

#include "monitor/base/bytes.h"
#include "monitor/memory/flat_image.h"
#include "monitor/snapshot/golden_impl.h"

namespace shinken {
namespace {

/// Operations that a file may have decoded: some ten times what a machine runs that tries all its programs.
constexpr u64 kMaxCodeSlots = u64{16} << 20;

}  // namespace

Digest machine_digest(std::span<const u8> state, u64 memory_pages, const Digest& memory_sum,
                      u32 machine_abi) {
  ByteWriter parts;
  parts.put<u32>(machine_abi);
  parts.put<u64>(memory_pages);
  parts.put<u64>(memory_sum.lo);
  parts.put<u64>(memory_sum.hi);
  parts.put_string(state);
  return hash_bytes(parts.take());
}

Golden::Golden(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Golden::~Golden() = default;

Digest Golden::Impl::memory_sum() {
  {
    std::lock_guard lock(mutex);
    if (sum) return *sum;
  }
  // Outside the lock: it may hash all of RAM. Racing callers get the same value.
  const Digest found = image->sum();
  std::lock_guard lock(mutex);
  sum = found;
  return found;
}

Digest Golden::digest() const {
  {
    std::lock_guard lock(impl_->mutex);
    if (impl_->digest) return *impl_->digest;
  }
  const Digest digest = machine_digest(impl_->state, impl_->image->pages(), impl_->memory_sum());
  std::lock_guard lock(impl_->mutex);
  impl_->digest = digest;
  return digest;
}

u64 Golden::memory_bytes() const {
  return impl_->image->pages() << kPageShift;
}
u64 Golden::stored_pages() const {
  return impl_->image->stored_pages();
}
u64 Golden::instret() const {
  return impl_->instret;
}
u64 Golden::ticks() const {
  return impl_->ticks;
}
const std::string& Golden::note() const {
  return impl_->note;
}

std::vector<u32> Golden::touched_pages() const {
  return FlatImage::touched(*impl_->image);
}
void Golden::prefetch(std::vector<u32> order) const {
  FlatImage::prefetch(*impl_->image, std::move(order));
}

bool Golden::has_code() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->code->get() != nullptr || impl_->starts != nullptr;
}

void Golden::decode_code() const {
  std::shared_ptr<const std::vector<CodeStarts>> starts;
  {
    std::lock_guard lock(impl_->mutex);
    starts = impl_->starts;
  }
  if (!starts) return;
  // Outside the lock, which forks take. Racing callers get blocks that are alike.
  auto code = decode_shared(*starts, kMaxCodeSlots);
  std::lock_guard lock(impl_->mutex);
  // What a fork has shared meanwhile is as good, and in use.
  if (!impl_->code->get()) impl_->code->set(std::move(code));
  impl_->starts.reset();
}

}  // namespace shinken
