#include "monitor/memory/flat_image.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "monitor/base/error.h"
#include "monitor/memory/host_mapping.h"
#include "monitor/memory/machine_memory.h"
#include "monitor/memory/userfault.h"

namespace shinken {
namespace {

constexpr u64 kPagesPerHuge = kHugeBytes >> kPageShift;

/// A mapping of the whole file; ends with the object.
struct Mapping {
  // SAFETY: within a file whose size nobody changes.
  Mapping(int file, u64 bytes, int protection, int flags)
      : at(map_host(file, bytes, protection, flags, true)), bytes(bytes) {}
  ~Mapping() { munmap(at, bytes); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  u8* at;
  u64 bytes;
};

}  // namespace

/// The file, and how many of its pages are filled.
struct FlatImage::File {
  explicit File(u64 pages) : handle(make_memory_file(pages << kPageShift)) {}
  ~File() {
    count_flat_pages(-static_cast<i64>(filled));
    count_huge_bytes(-static_cast<i64>(huge));
  }
  FileHandle handle;
  u64 filled = 0;
  u64 expected = 0;               // of a cold one: pages that it will store
  u64 huge = 0;                   // bytes in huge pages
  std::optional<Mapping> target;  // of a cold one: where its pages are filled in
};

namespace {

/// Pages whose bytes lie in a flat image's file. Frees itself, and its hold on the file, with its last page.
class FlatPages final : public PageHome {
 public:
  static Page* create(std::shared_ptr<const void> file, int handle, u64 bytes,
                      const std::vector<u64>& numbers) {
    auto* home = new FlatPages(std::move(file), handle, bytes, numbers.size());
    for (u64 i = 0; i < numbers.size(); ++i) {
      Page& page = home->pages_[i];
      page.data = home->mapping_.at + (numbers[i] << kPageShift);
      page.home = home;
      page.refs.store(1, std::memory_order_relaxed);
    }
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): its pages own it, and the last one frees it.
    return home->pages_.get();
  }
  void give_back(Page*) override {
    if (live_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  // Private, since a sealed file is not mapped shared before Linux 6.7; it is only read.
  FlatPages(std::shared_ptr<const void> file, int handle, u64 bytes, u64 count)
      : PageHome(false),
        file_(std::move(file)),
        mapping_(handle, bytes, PROT_READ, MAP_PRIVATE),
        pages_(new Page[count]),
        live_(count) {}
  std::shared_ptr<const void> file_;
  Mapping mapping_;
  std::unique_ptr<Page[]> pages_;
  std::atomic<u64> live_;
};

}  // namespace

FlatImage::FlatImage(u64 pages)
    : faults_(Userfault::shared()), file_(std::make_shared<File>(pages)), pages_(pages), filled_(pages) {}

FlatImage::~FlatImage() {
  stop_.store(true);
  if (ahead_.joinable()) ahead_.join();
}

int FlatImage::file() const {
  return file_->handle.get();
}

u64 FlatImage::huge() const {
  return file_->huge;
}

u64 FlatImage::stored() const {
  return file_->expected != 0 ? file_->expected : file_->filled;
}

void FlatImage::fill(const MemoryImage& image) {
  {
    Mapping to(file(), pages_ << kPageShift, PROT_READ | PROT_WRITE, MAP_SHARED);
    // Huge pages where half of one is used; elsewhere they would only be larger.
    std::vector<u32> used((pages_ + kPagesPerHuge - 1) / kPagesPerHuge);
    image.for_each_page([&](u64 number, Page&) { ++used[number / kPagesPerHuge]; });
    for (u64 i = 0; i < used.size(); ++i) {
      if (used[i] < kPagesPerHuge / 2 || (i + 1) * kPagesPerHuge > pages_) continue;
      ask_for_huge_pages(to.at + i * kHugeBytes, kHugeBytes);
    }
    image.for_each_page([&](u64 number, Page& page) {
      std::memcpy(to.at + (number << kPageShift), page.data, kPageSize);
      ++file_->filled;
    });
    count_flat_pages(static_cast<i64>(file_->filled));
    file_->huge = huge_bytes(to.at, to.bytes);
    count_huge_bytes(static_cast<i64>(file_->huge));
  }
  seal_memory_file(file_->handle, true);
  complete_.store(true, std::memory_order_release);
}

void FlatImage::fill_one(u64 number) {
  const Page* page = content_->find(number);
  if (page == nullptr || filled_.has(number)) return;
  // Atomic for whoever waits for the page: it is not there before all of it is.
  faults_->fill(file_->target->at + (number << kPageShift), page->data, kPageSize);
  filled_.add(number);
  count_flat_pages(1);
  if (++file_->filled < file_->expected) return;
  // A file that is mapped for writing cannot be sealed.
  file_->target.reset();
  seal_memory_file(file_->handle, true);
  complete_.store(true, std::memory_order_release);
}

void FlatImage::touch(u64 number) {
  constexpr u64 kNear = 16;
  std::lock_guard lock(mutex_);
  if (filled_.has(number)) return;
  touched_.push_back(static_cast<u32>(number));
  fill_one(number);
  const u64 first = number & ~(kNear - 1);
  for (u64 near = first; near < std::min(first + kNear, pages_); ++near) fill_one(near);
}

void FlatImage::complete_now() {
  content_->for_each_page([this](u64 number, Page&) {
    std::lock_guard lock(mutex_);
    fill_one(number);
  });
}

void FlatImage::start_prefetch(std::vector<u32> order) {
  // Images share a file, and each has a lock of its own.
  std::lock_guard starting(mutex_);
  if (order.empty() || complete() || ahead_.joinable()) return;
  const auto ahead = [this, order = std::move(order)] {
    const auto fill_ahead = [this](u64 number) {
      if (number >= pages_ || stop_.load()) return;
      std::lock_guard lock(mutex_);
      const u64 before = file_->filled;
      fill_one(number);
      if (file_->filled != before) count_prefetched();
    };
    try {
      for (const u32 number : order) fill_ahead(number);
      content_->for_each_page([&](u64 number, Page&) { fill_ahead(number); });
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // The host has no memory just now: whoever touches a page asks for it again.
    }
  };
  try {
    ahead_ = std::thread(ahead);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // The host has no thread just now: pages come as they are touched.
  }
}

void FlatImage::prefetch(const MemoryImage& image, std::vector<u32> order) {
  MemoryImage::FlatSlot& slot = image.flat_slot();
  std::lock_guard lock(slot.mutex);
  if (slot.flat) {
    slot.flat->start_prefetch(std::move(order));
  } else {
    slot.wanted = std::move(order);
  }
}

std::vector<u32> FlatImage::touched(const MemoryImage& image) {
  MemoryImage::FlatSlot& slot = image.flat_slot();
  std::lock_guard lock(slot.mutex);
  if (!slot.flat) return {};
  std::lock_guard inner(slot.flat->mutex_);
  return slot.flat->touched_;
}

std::shared_ptr<const MemoryImage> FlatImage::flattened(const MemoryImage& image) {
  std::shared_ptr<FlatImage> flat(new FlatImage(image.pages()));
  flat->fill(image);
  std::vector<u64> numbers;
  image.for_each_page([&](u64 number, Page&) { numbers.push_back(number); });
  ImageBuilder builder(image.pool(), image.pages());
  if (!numbers.empty()) {
    Page* pages = FlatPages::create(flat->file_, flat->file(), image.pages() << kPageShift, numbers);
    u64 next = 0;
    image.for_each_page([&](u64 number, Page& page) {
      if (page.hashed.load(std::memory_order_acquire)) pages[next].set_hash(page.content_hash());
      builder.put(number, &pages[next++]);
    });
  }
  auto result = builder.finish(image.kind());
  flat->content_ = result->twin(image.kind());
  result->flat_slot().flat = std::move(flat);
  return result;
}

std::shared_ptr<FlatImage> FlatImage::of(const MemoryImage& image) {
  MemoryImage::FlatSlot& slot = image.flat_slot();
  std::lock_guard lock(slot.mutex);
  if (!slot.flat && slot.base) slot.flat = of(*slot.base);
  slot.base.reset();
  u64 differences = 0;
  if (slot.flat) image.for_each_difference(slot.flat->content(), [&](u64, Page*) { ++differences; });
  // A copy of the whole costs as many pages: after that many it would have been the better choice, and so it
  // is made at no more than twice the cost of having known.
  slot.copied += differences;
  if (slot.flat && (differences == 0 || slot.copied < slot.flat->stored())) return slot.flat;
  std::shared_ptr<FlatImage> flat(new FlatImage(image.pages()));
  flat->content_ = image.twin(image.kind());
  u64 stored = 0, on_disk = 0;
  image.for_each_page([&](u64, Page& page) { ++stored, on_disk += page.home->on_disk() ? 1 : 0; });
  if (on_disk > stored / 2 && flat->faults_->can_serve()) {
    flat->file_->expected = stored;
    Mapping& target = flat->file_->target.emplace(flat->file(), flat->pages_ << kPageShift,
                                                  PROT_READ | PROT_WRITE, MAP_SHARED);
    flat->faults_->add_target(target.at, target.bytes);
    flat->start_prefetch(std::exchange(slot.wanted, {}));
  } else {
    flat->fill(image);
  }
  slot.copied = 0;
  slot.flat = flat;
  return flat;
}

}  // namespace shinken
