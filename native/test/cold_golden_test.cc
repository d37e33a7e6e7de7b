// Flat memories of goldens that lie on disk: their pages are filled as they are touched, or ahead.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "monitor/snapshot/golden_impl.h"
#include "test/support/flat_memory.h"
#include "test/support/host_limits.h"
#include "test/support/sanitized.h"

using namespace shinken;
using namespace shinken::test;

MAP_TEST_CASE("forks of a golden on disk fill its file page by page as they touch it, once for all of them") {
  if (!host_has(&Userfault::can_serve)) return;
  TempDir dir;
  std::vector<u32> order;
  Digest expected;
  u64 stored = 0;
  {
    const auto golden = start_echo(dir, 4)->freeze();
    golden->save(dir.file("g"));
    auto soft = Machine::fork(golden, kOnSoft);
    soft->run(ask(1, 9));
    expected = soft->digest();
  }
  const auto before = all_paths();
  {
    const auto golden = Golden::load(dir.file("g"), {{}, GoldenCheck::kIndex});
    stored = golden->stored_pages();
    auto first = Machine::fork(golden, kOnMap);
    CHECK(golden->touched_pages().empty());
    first->run(ask(1, 9));
    CHECK(first->digest() == expected);
    order = golden->touched_pages();
    CHECK(!order.empty());
    CHECK(order.size() < stored);
    CHECK(first->stats().paths.cold_faults == order.size());
    auto second = Machine::fork(golden, kOnMap);
    second->run(ask(1, 9));
    CHECK(second->digest() == expected);
    // A page of the file is filled once.
    CHECK(second->stats().paths.cold_faults == 0);
    // Frozen before all of it was touched, it is a golden like any other.
    CHECK(Machine::fork(second->freeze(), kOnSoft)->digest() == expected);
  }
  CHECK(all_paths().cold_faults - before.cold_faults == order.size());
  CHECK(all_paths().prefetched_pages == before.prefetched_pages);
  const auto golden = Golden::load(dir.file("g"), {{}, GoldenCheck::kIndex});
  // What another file's record may hold does no harm.
  order.push_back(~u32{0});
  golden->prefetch(order);
  auto fork = Machine::fork(golden, kOnMap);
  fork->run(ask(1, 9));
  CHECK(fork->digest() == expected);
  fork->close();
  // Its threads are joined with the golden, whatever they have come to.
  const u64 ahead = all_paths().prefetched_pages - before.prefetched_pages;
  CHECK(ahead <= stored);
}

MAP_TEST_CASE("what is read ahead is not waited for") {
  if (!host_has(&Userfault::can_serve)) return;
  TempDir dir;
  start_echo(dir, 4)->freeze()->save(dir.file("g"));
  const auto golden = Golden::load(dir.file("g"), {{}, GoldenCheck::kIndex});
  golden->prefetch({0});
  const auto before = all_paths();
  auto first = Machine::fork(golden, kOnMap);
  while (all_paths().prefetched_pages - before.prefetched_pages < golden->stored_pages()) {
    std::this_thread::yield();
  }
  first->run(ask(1));
  auto second = Machine::fork(golden, kOnMap);
  second->run(ask(1));
  CHECK(second->digest() == first->digest());
  CHECK(first->stats().paths.cold_faults + second->stats().paths.cold_faults == 0);
}

MAP_TEST_CASE("a fork that the host has no descriptor for is refused, and leaves no mapping behind") {
  // The undefined behaviour sanitizer asks a pipe whether an object is there, and takes it for gone without
  // one.
  if (kSanitized || !host_has(&Userfault::can_serve)) return;
  TempDir dir;
  start_echo(dir, 4)->freeze()->save(dir.file("g"));
  const auto golden = Golden::load(dir.file("g"), {{}, GoldenCheck::kIndex});
  // From here on only the handler's event is missing.
  const auto flat = FlatImage::of(*golden->impl().image);
  const unsigned before = memory_file_mappings();
  {
    const NoMoreFiles limit;
    CHECK_THROWS_AS(Machine::fork(golden, kOnMap), MonitorError);
  }
  CHECK(memory_file_mappings() == before);
  auto fork = Machine::fork(golden, kOnMap);
  CHECK(memory_file_mappings() == before + 1);
  CHECK(fork->run(ask(1)).reason == StopReason::kReply);
  fork->close();
  CHECK(memory_file_mappings() == before);
}

MAP_TEST_CASE("images that share a file may be asked to read ahead at the same time, and it is done once") {
  if (!host_has(&Userfault::can_serve)) return;
  TempDir dir;
  start_echo(dir, 4)->freeze()->save(dir.file("g"));
  const auto golden = Golden::load(dir.file("g"), {{}, GoldenCheck::kIndex});
  const auto image = golden->impl().image;
  MapMemory memory(image);
  put(memory, kPages, 7);
  const auto child = memory.freeze();
  const auto flat = image->flat_slot().flat;
  REQUIRE(child->flat_slot().flat == flat);
  const auto before = all_paths();
  std::thread other([&] { FlatImage::prefetch(*child, {1}); });
  FlatImage::prefetch(*image, {0});
  other.join();
  while (!flat->complete()) std::this_thread::yield();
  CHECK(all_paths().prefetched_pages - before.prefetched_pages <= golden->stored_pages());
  CHECK(SoftMemory(*child).sum() == MapMemory(child).sum());
}

namespace {

/// Pages of an image whose bytes come only when they are read, as from a disk; at that moment it looks into
/// the file that they are copied to.
class SlowPages final : public PageHome, public FaultServer {
 public:
  SlowPages(std::shared_ptr<Userfault> faults, u64 count)
      : PageHome(false), faults_(std::move(faults)), count_(count), pages_(new Page[count]) {
    void* at =
        mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(at != MAP_FAILED);
    from_ = static_cast<u8*>(at);
    for (u64 i = 0; i < count; ++i) {
      pages_[i].data = from_ + (i << kPageShift);
      pages_[i].home = this;
      pages_[i].refs.store(1);
    }
    faults_->add_missing(from_, bytes(), this);
  }
  ~SlowPages() override {
    faults_->remove(from_);
    munmap(from_, bytes());
  }
  void give_back(Page*) override {}
  bool on_disk() const override { return true; }
  void on_protected(u8*) override {}
  void on_missing(u8* at) override {
    while (file < 0) std::this_thread::yield();
    const u64 place = static_cast<u64>(at - from_);
    // Written each time: the reader's load is the order that the thread sanitizer sees.
    seen_early += in_file(place) ? 1 : 0;
    std::vector<u8> content(kPageSize, value(place >> kPageShift));
    faults_->copy(at, content.data(), kPageSize);
  }
  static u8 value(u64 page) { return static_cast<u8>(1 + page); }
  Page* page(u64 number) { return &pages_[number]; }
  /// False where the kernel's own faults are not handed out: then nobody can play a slow disk.
  bool can_be_read_by_the_kernel() const {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const bool can = write(ends[1], from_ + ((count_ - 1) << kPageShift), 1) == 1;
    close(ends[0]), close(ends[1]);
    return can;
  }

  std::atomic<int> file{-1};
  std::atomic<u64> seen_early{0};

 private:
  u64 bytes() const { return count_ << kPageShift; }
  /// True if whoever maps the file sees something there.
  bool in_file(u64 place) const {
    void* view = mmap(nullptr, kPageSize, PROT_READ, MAP_PRIVATE, file, static_cast<off_t>(place));
    if (view == MAP_FAILED) return false;
    unsigned char seen = 0;
    mincore(view, kPageSize, &seen);
    munmap(view, kPageSize);
    return (seen & 1) != 0;
  }
  std::shared_ptr<Userfault> faults_;
  u64 count_;
  u8* from_ = nullptr;
  std::unique_ptr<Page[]> pages_;
};

}  // namespace

MAP_TEST_CASE("a page of a cold golden is not seen by anybody before all of it is there") {
  if (!host_has(&Userfault::can_serve)) return;
  constexpr u64 kStored = 40;
  SlowPages slow(Userfault::shared(), kStored + 1);
  slow.file = open("/dev/null", O_RDONLY);
  const bool readable = slow.can_be_read_by_the_kernel();
  CHECK(slow.seen_early.load() == 0);
  close(slow.file.exchange(-1));
  if (!readable) return;
  ImageBuilder builder(std::make_shared<PagePool>(), kPages);
  for (u64 page = 0; page < kStored; ++page) builder.put(page, slow.page(page));
  const auto image = builder.finish(MemoryKind::kMap);
  FlatImage::prefetch(*image, {0});
  const auto flat = FlatImage::of(*image);
  slow.file = flat->file();
  while (!flat->complete()) std::this_thread::yield();
  CHECK(slow.seen_early.load() == 0);
  MapMemory fork(image);
  for (u64 page = 0; page < kStored; ++page) CHECK(fork.page_for_read(page)[7] == SlowPages::value(page));
}
