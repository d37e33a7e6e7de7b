#pragma once
// Host pages: reference-counted 4 KiB buffers with a cached content hash, cut from chunks that go back to the
// OS.
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "monitor/base/digest.h"
#include "monitor/base/file.h"
#include "monitor/base/types.h"

namespace shinken {

struct Page;

/// Who takes a page back when its last reference goes.
class PageHome {
 public:
  explicit PageHome(bool writable) : writable(writable) {}
  virtual ~PageHome() = default;
  virtual void give_back(Page* page) = 0;
  /// True if the bytes come from a disk at their first touch.
  virtual bool on_disk() const { return false; }
  const bool writable;  // false: the bytes are a read-only mapping and are copied even by a sole owner
};

/// One host page. A page that two tables reach is immutable; `hash` may be cached only while it is.
struct Page {
  std::atomic<u32> refs{0};
  std::atomic<bool> hashed{false};
  std::atomic<u64> hash_lo{0}, hash_hi{0};
  u8* data = nullptr;
  PageHome* home = nullptr;

  /// Content hash, computed at the first call. Racing callers store the same value.
  Digest content_hash();
  void set_hash(const Digest& hash);
  /// Notes the hash of a page that may be written any moment: not cached before `hashed` is set. True if it
  /// is another one than was noted, or cached, last.
  bool note_hash(const Digest& hash) {
    const u64 lo = hash_lo.load(std::memory_order_relaxed), hi = hash_hi.load(std::memory_order_relaxed);
    hash_lo.store(hash.lo, std::memory_order_relaxed);
    hash_hi.store(hash.hi, std::memory_order_relaxed);
    return lo != hash.lo || hi != hash.hi;
  }
  void keep() { refs.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) home->give_back(this);
  }
};

/// `content_hash` of each, several at once; null pages are left out.
void hash_contents(std::span<Page* const> pages);

struct PoolStats {
  u64 live_pages = 0;    // chunk pages in use
  u64 mapped_pages = 0;  // chunk pages held from the OS
  u64 tables = 0;        // page table nodes in use
};

/// Guest memory of the whole process. Exact: each figure is what is held at one moment, not an estimate.
/// Flat memories count in `live_pages` and `mapped_pages` with the pages that they filled or handed out.
struct MemoryStats : PoolStats {
  u64 file_pages = 0;  // pages of golden files that are mapped; they cost what the page cache holds
  u64 flat_pages = 0;  // of live_pages: those outside the pools
  u64 huge_bytes = 0;  // of flat goldens: in pages of 2 MiB
};
MemoryStats memory_stats();
/// Pages outside the pools: of flat goldens, and private ones of flat memories.
void count_flat_pages(i64 by);
void count_huge_bytes(i64 by);

/// Pages of one family of machines (a first machine, its goldens, their forks). Thread-safe. Outlives its
/// pages: every memory and image of the family holds it.
class PagePool {
 public:
  PagePool();
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  /// A page with one reference and undefined content. Throws MonitorError kNoMemory.
  Page* take();
  PoolStats stats() const;
  void count_table(int by) { tables_.fetch_add(static_cast<u64>(by), std::memory_order_relaxed); }

 private:
  struct Chunk;
  void give_back(Chunk* chunk, Page* page);
  mutable std::mutex mutex_;
  std::vector<Chunk*> partial_;  // chunks that have a free page
  u64 chunks_ = 0, empty_ = 0, live_ = 0;
  std::atomic<u64> tables_{0};
};

/// Pages whose bytes lie in a mapped file. Frees itself, and its hold on the file, with its last page.
class FilePages final : public PageHome {
 public:
  /// `count` pages at `data` inside the file's mapping, each with one reference that is the caller's.
  static Page* create(std::shared_ptr<const MappedFile> file, const u8* data, u64 count);
  void give_back(Page* page) override;
  bool on_disk() const override { return true; }

 private:
  FilePages(std::shared_ptr<const MappedFile> file, u64 count);
  ~FilePages() override;
  std::shared_ptr<const MappedFile> file_;
  std::unique_ptr<Page[]> pages_;
  const u64 count_;
  std::atomic<u64> live_;
};

}  // namespace shinken
