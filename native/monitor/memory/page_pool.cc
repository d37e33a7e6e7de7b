#include "monitor/memory/page_pool.h"

#include <sys/mman.h>

#include <unordered_set>

#include "monitor/base/error.h"

namespace shinken {
namespace {
constexpr u32 kChunkPages = 256;
/// Empty chunks kept for the next fork; the rest is unmapped at once.
constexpr u64 kSpareChunks = 4;

/// The pools of the process, for counting alone. Never destroyed, since a pool may end after static objects.
struct Pools {
  std::mutex mutex;
  std::unordered_set<const PagePool*> all;
  std::atomic<u64> file_pages{0}, flat_pages{0}, huge_bytes{0};
};
Pools& pools() {
  static Pools& present = *new Pools;
  return present;
}
}  // namespace

MemoryStats memory_stats() {
  MemoryStats sum;
  sum.file_pages = pools().file_pages.load(std::memory_order_relaxed);
  std::lock_guard lock(pools().mutex);
  for (const PagePool* pool : pools().all) {
    const PoolStats part = pool->stats();
    sum.live_pages += part.live_pages;
    sum.mapped_pages += part.mapped_pages;
    sum.tables += part.tables;
  }
  sum.flat_pages = pools().flat_pages.load(std::memory_order_relaxed);
  sum.huge_bytes = pools().huge_bytes.load(std::memory_order_relaxed);
  sum.live_pages += sum.flat_pages;
  sum.mapped_pages += sum.flat_pages;
  return sum;
}

void count_flat_pages(i64 by) {
  pools().flat_pages.fetch_add(static_cast<u64>(by), std::memory_order_relaxed);
}

void count_huge_bytes(i64 by) {
  pools().huge_bytes.fetch_add(static_cast<u64>(by), std::memory_order_relaxed);
}

Digest Page::content_hash() {
  if (hashed.load(std::memory_order_acquire)) {
    return {hash_lo.load(std::memory_order_relaxed), hash_hi.load(std::memory_order_relaxed)};
  }
  const Digest hash = hash_page(data);
  set_hash(hash);
  return hash;
}

void hash_contents(std::span<Page* const> pages) {
  Page* batch[kHashedAtOnce];
  unsigned count = 0;
  const auto hash_batch = [&] {
    const u8* bytes[kHashedAtOnce];
    Digest hashes[kHashedAtOnce];
    for (unsigned i = 0; i < kHashedAtOnce; ++i) bytes[i] = batch[i]->data;
    hash_pages(bytes, hashes);
    for (unsigned i = 0; i < kHashedAtOnce; ++i) batch[i]->set_hash(hashes[i]);
    count = 0;
  };
  for (Page* page : pages) {
    if (page == nullptr || page->hashed.load(std::memory_order_acquire)) continue;
    batch[count] = page;
    if (++count == kHashedAtOnce) hash_batch();
  }
  for (unsigned i = 0; i < count; ++i) batch[i]->content_hash();
}

void Page::set_hash(const Digest& hash) {
  hash_lo.store(hash.lo, std::memory_order_relaxed);
  hash_hi.store(hash.hi, std::memory_order_relaxed);
  hashed.store(true, std::memory_order_release);
}

struct PagePool::Chunk final : PageHome {
  explicit Chunk(PagePool* owner) : PageHome(true), pool(owner) {
    // SAFETY: anonymous private memory, owned by this chunk until its destructor.
    void* at = mmap(nullptr, kChunkPages * kPageSize, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw MonitorError(ErrorKind::kNoMemory, "the host refused memory for guest pages");
    base = static_cast<u8*>(at);
    for (u32 i = 0; i < kChunkPages; ++i) {
      pages[i].data = base + i * kPageSize;
      pages[i].home = this;
      free[i] = static_cast<u16>(kChunkPages - 1 - i);
    }
  }
  ~Chunk() override { munmap(base, kChunkPages * kPageSize); }
  void give_back(Page* page) override { pool->give_back(this, page); }

  PagePool* pool;
  u8* base;
  u32 free_count = kChunkPages;
  std::size_t partial_at = 0;  // index in partial_, if free_count > 0
  u16 free[kChunkPages];
  Page pages[kChunkPages];
};

PagePool::PagePool() {
  std::lock_guard lock(pools().mutex);
  pools().all.insert(this);
}

PagePool::~PagePool() {
  {
    std::lock_guard lock(pools().mutex);
    pools().all.erase(this);
  }
  // Only empty chunks can be left: pages keep their memory or image, and those keep the pool.
  for (Chunk* chunk : partial_) delete chunk;
}

Page* PagePool::take() {
  std::lock_guard lock(mutex_);
  if (partial_.empty()) {
    auto fresh = std::make_unique<Chunk>(this);
    partial_.push_back(fresh.get());
    fresh.release()->partial_at = 0;
    ++chunks_;
    ++empty_;
  }
  Chunk* chunk = partial_.back();
  if (chunk->free_count == kChunkPages) --empty_;
  Page* page = &chunk->pages[chunk->free[--chunk->free_count]];
  if (chunk->free_count == 0) partial_.pop_back();
  ++live_;
  page->hashed.store(false, std::memory_order_relaxed);
  page->refs.store(1, std::memory_order_relaxed);
  return page;
}

void PagePool::give_back(Chunk* chunk, Page* page) {
  std::unique_ptr<Chunk> gone;
  std::lock_guard lock(mutex_);
  --live_;
  chunk->free[chunk->free_count++] = static_cast<u16>(page - chunk->pages);
  if (chunk->free_count == 1) {
    chunk->partial_at = partial_.size();
    partial_.push_back(chunk);
  }
  if (chunk->free_count < kChunkPages) return;
  if (empty_ < kSpareChunks) {
    ++empty_;
    return;
  }
  partial_[chunk->partial_at] = partial_.back();
  partial_[chunk->partial_at]->partial_at = chunk->partial_at;
  partial_.pop_back();
  --chunks_;
  gone.reset(chunk);
}

PoolStats PagePool::stats() const {
  std::lock_guard lock(mutex_);
  return {live_, chunks_ * kChunkPages, tables_.load(std::memory_order_relaxed)};
}

FilePages::FilePages(std::shared_ptr<const MappedFile> file, u64 count)
    : PageHome(false), file_(std::move(file)), pages_(new Page[count]), count_(count), live_(count) {
  pools().file_pages.fetch_add(count_, std::memory_order_relaxed);
}

FilePages::~FilePages() {
  pools().file_pages.fetch_sub(count_, std::memory_order_relaxed);
}

Page* FilePages::create(std::shared_ptr<const MappedFile> file, const u8* data, u64 count) {
  auto* home = new FilePages(std::move(file), count);
  for (u64 i = 0; i < count; ++i) {
    Page& page = home->pages_[i];
    // SAFETY: never written: `home->writable` is false.
    page.data = const_cast<u8*>(data + i * kPageSize);
    page.home = home;
    page.refs.store(1, std::memory_order_relaxed);
  }
  return home->pages_.get();
}

void FilePages::give_back(Page*) {
  if (live_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace shinken
