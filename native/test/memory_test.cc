#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <set>

#include "monitor/memory/segments.h"
#include "test/support/memories.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u64 kPages = 3 * kPagesPerMid + 17;

/// A memory beside the flat model that it must equal: one number per page, written all over the page.
struct Twin {
  std::unique_ptr<MachineMemory> memory;
  std::vector<u32> model;
  std::set<u64> dirty;
};

void fill(u8* page, u32 value) {
  for (u64 at = 0; at < kPageSize; at += 4) std::memcpy(page + at, &value, 4);
}

u32 value_of(const u8* page) {
  u32 first, last;
  std::memcpy(&first, page, 4);
  std::memcpy(&last, page + kPageSize - 4, 4);
  return first == last ? first : ~u32{0};
}

/// Computed from the model alone.
Digest model_sum(const std::vector<u32>& model) {
  Digest sum;
  std::vector<u8> page(kPageSize);
  for (u64 i = 0; i < model.size(); ++i) {
    if (model[i] == 0) continue;
    fill(page.data(), model[i]);
    const Digest share = page_share(i, hash_page(page.data()));
    sum.lo += share.lo;
    sum.hi += share.hi;
  }
  return sum;
}

class Recorder : public PageObserver {
 public:
  void on_page_write(u64 page, bool moved) override { calls.emplace_back(page, moved); }
  std::vector<std::pair<u64, bool>> calls;
};

}  // namespace

TEST_ON_BOTH_MEMORIES("random forks, writes, freezes, digests and closes agree with a flat model") {
  for (u32 seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](u64 n) { return static_cast<u64>(random()) % n; };
    auto pool = std::make_shared<PagePool>();
    std::vector<Twin> twins;
    twins.push_back({fresh_memory(pool, kPages), std::vector<u32>(kPages), {}});
    std::vector<std::pair<std::shared_ptr<const MemoryImage>, std::vector<u32>>> images;
    for (int step = 0; step < 600; ++step) {
      const u64 what = pick(100);
      if (twins.empty() && images.empty()) break;
      if (what < 70 && !twins.empty()) {
        Twin& twin = twins[pick(twins.size())];
        const u64 page = pick(2) != 0 ? pick(kPages) : pick(40);
        const u32 value = pick(5) == 0 ? 0 : static_cast<u32>(1 + pick(1000));
        fill(twin.memory->page_for_write(page), value);
        twin.model[page] = value;
        twin.dirty.insert(page);
      } else if (what < 78 && !twins.empty()) {
        Twin& twin = twins[pick(twins.size())];
        images.emplace_back(twin.memory->freeze(), twin.model);
        twin.dirty.clear();
      } else if (what < 86 && !images.empty() && twins.size() < 8) {
        const auto& [image, model] = images[pick(images.size())];
        twins.push_back({forked_memory(image), model, {}});
      } else if (what < 90 && !images.empty()) {
        images.erase(images.begin() + static_cast<std::ptrdiff_t>(pick(images.size())));
      } else if (what < 93 && twins.size() > 1) {
        twins.erase(twins.begin() + static_cast<std::ptrdiff_t>(pick(twins.size())));
      } else if (what < 96 && !twins.empty()) {
        Twin& twin = twins[pick(twins.size())];
        REQUIRE(twin.memory->sum() == model_sum(twin.model));
      } else if (!images.empty()) {
        const auto& [image, model] = images[pick(images.size())];
        REQUIRE(image->sum() == model_sum(model));
      }
    }
    for (Twin& twin : twins) {
      for (u64 page = 0; page < kPages; ++page) {
        REQUIRE(value_of(twin.memory->page_for_read(page)) == twin.model[page]);
      }
      std::set<u64> dirty;
      twin.memory->for_each_dirty([&](u64 page) { dirty.insert(page); });
      REQUIRE(dirty == twin.dirty);
      REQUIRE(twin.memory->dirty_pages() == twin.dirty.size());
      for (u64 page : dirty) REQUIRE(!twin.memory->is_shared(page));
    }
    twins.clear();
    images.clear();
    CHECK(pool->stats().live_pages == 0);
    CHECK(pool->stats().tables == 0);
    CHECK(pool->stats().mapped_pages <= 5 * 256);
  }
}

TEST_ON_BOTH_MEMORIES("untouched memory is one zero page and costs nothing") {
  auto pool = std::make_shared<PagePool>();
  const auto owner = fresh_memory(pool, kPages);
  MachineMemory& memory = *owner;
  CHECK(memory.page_for_read(0) == memory.page_for_read(kPages - 1));
  CHECK(pool->stats().live_pages == 0);
  CHECK(memory.sum() == Digest{});
}

TEST_ON_BOTH_MEMORIES("a page of zeros counts like one that was never touched") {
  auto pool = std::make_shared<PagePool>();
  const auto owner = fresh_memory(pool, kPages);
  MachineMemory& memory = *owner;
  memory.page_for_write(5)[9] = 1;
  CHECK(memory.sum() != Digest{});
  memory.page_for_write(5)[9] = 0;
  CHECK(memory.sum() == Digest{});
  CHECK(memory.freeze()->sum() == Digest{});
}

TEST_ON_BOTH_MEMORIES("the digest tells pages apart by place and by content") {
  auto pool = std::make_shared<PagePool>();
  const auto one = fresh_memory(pool, kPages), other = fresh_memory(pool, kPages);
  MachineMemory &a = *one, &b = *other;
  a.page_for_write(1)[0] = 1;
  b.page_for_write(2)[0] = 1;
  CHECK(a.sum() != b.sum());
  a.page_for_write(2)[0] = 1;
  b.page_for_write(1)[0] = 1;
  CHECK(a.sum() == b.sum());
  b.page_for_write(1)[4095] = 0x80;
  CHECK(a.sum() != b.sum());
}

TEST_CASE("a sole owner writes in place, a sharer copies") {
  auto pool = std::make_shared<PagePool>();
  SoftMemory memory(pool, kPages);
  const u8* first = memory.page_for_write(7);
  auto image = memory.freeze();
  CHECK(memory.is_shared(7));
  const u8* copy = memory.page_for_write(7);
  CHECK(copy != first);
  CHECK(pool->stats().live_pages == 2);
  image.reset();
  CHECK(pool->stats().live_pages == 1);
  memory.freeze();
  CHECK(memory.page_for_write(7) == copy);
}

TEST_ON_BOTH_MEMORIES("the observer hears of moves, and of writes to watched pages once") {
  auto pool = std::make_shared<PagePool>();
  const auto owner = fresh_memory(pool, kPages);
  MachineMemory& memory = *owner;
  Recorder recorder;
  memory.set_observer(&recorder);
  using Calls = std::vector<std::pair<u64, bool>>;
  memory.page_for_write(3);
  CHECK(recorder.calls == Calls{{3, true}});
  memory.page_for_write(3);
  CHECK(recorder.calls.size() == 1);
  memory.watch(3);
  memory.watch(3);
  memory.page_for_write(3);
  memory.page_for_write(3);
  CHECK(recorder.calls == Calls{{3, true}, {3, false}});
  auto image = memory.freeze();
  memory.page_for_write(3);
  CHECK(recorder.calls.size() == 3);
  CHECK(recorder.calls.back() == std::pair<u64, bool>{3, true});
}

TEST_CASE("chunks go back to the host when their pages do") {
  auto pool = std::make_shared<PagePool>();
  {
    SoftMemory memory(pool, 16'384);
    for (u64 page = 0; page < memory.pages(); ++page) memory.page_for_write(page)[0] = 1;
    CHECK(pool->stats().live_pages == 16'384);
    CHECK(pool->stats().mapped_pages == 16'384);
  }
  CHECK(pool->stats().live_pages == 0);
  CHECK(pool->stats().mapped_pages <= 4 * 256);
}

TEST_ON_BOTH_MEMORIES("segments are bounded by RAM and cut at pages") {
  auto pool = std::make_shared<PagePool>();
  const auto owner = fresh_memory(pool, 4);
  MachineMemory& memory = *owner;
  std::vector<u64> pieces;
  const auto count = [&](u8*, u64 n) { pieces.push_back(n); };
  CHECK(for_each_segment(memory, kRamBase + 4000, 5000, MemoryAccess::kWrite, count));
  CHECK(pieces == std::vector<u64>{96, 4096, 808});
  pieces.clear();
  for (auto [address, length] : {std::pair<u64, u64>{kRamBase, 4 * kPageSize + 1},
                                 {kRamBase - 1, 1},
                                 {0, 1},
                                 {kRamBase + 4 * kPageSize, 1},
                                 {~u64{0}, 2},
                                 {kRamBase + 5, ~u64{0}}}) {
    CHECK(!for_each_segment(memory, address, length, MemoryAccess::kRead, count));
  }
  CHECK(pieces.empty());
  const u32 sent = 0xdecafbad;
  u32 got = 0;
  CHECK(write_guest(memory, kRamBase + 4094, &sent, 4));
  CHECK(read_guest(memory, kRamBase + 4094, &got, 4));
  CHECK(got == sent);
}

TEST_CASE("after every step of a random tree of forks exactly the pages that somebody reaches are live") {
  // A page is an identity here: a write keeps it where nobody else reaches it and makes a new one where
  // somebody does.
  using Pages = std::vector<u64>;  // 0: never written
  constexpr u64 kFew = 3 * kFan;
  struct Holder {
    std::unique_ptr<SoftMemory> memory;
    std::shared_ptr<const MemoryImage> image;
    Pages pages;
  };
  for (u32 seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](u64 n) { return static_cast<u64>(random()) % n; };
    const MemoryStats before = memory_stats();
    auto pool = std::make_shared<PagePool>();
    u64 identities = 0;
    std::vector<Holder> holders;
    holders.push_back({std::make_unique<SoftMemory>(pool, kPages), nullptr, Pages(kFew)});
    const auto reached = [&] {
      std::set<u64> all;
      for (const Holder& holder : holders) all.insert(holder.pages.begin(), holder.pages.end());
      all.erase(0);
      return all.size();
    };
    while (!holders.empty()) {
      const u64 at = pick(holders.size());
      // Grows first, then dies out, in any order of memories and images.
      const bool dying = identities > 400;
      const u64 what = pick(100);
      if (what < (dying ? 90u : 4u)) {
        holders.erase(holders.begin() + static_cast<std::ptrdiff_t>(at));
        if (holders.empty() && !dying) {
          holders.push_back({std::make_unique<SoftMemory>(pool, kPages), nullptr, Pages(kFew)});
        }
      } else if (holders[at].memory == nullptr) {
        if (holders.size() < 12) {
          holders.push_back({std::make_unique<SoftMemory>(*holders[at].image), nullptr, holders[at].pages});
        }
      } else if (what > 92 && holders.size() < 12) {
        holders.push_back({nullptr, holders[at].memory->freeze(), holders[at].pages});
      } else {
        const u64 slot = pick(kFew);
        Holder& writer = holders[at];
        u64& page = writer.pages[slot];
        // Spread over the tree's nodes: two of them in the first sixteen MiB, one behind.
        const u64 number = slot < 2 * kFan ? slot : slot + kPagesPerMid;
        bool shared = page == 0;
        for (const Holder& other : holders) shared |= &other != &writer && other.pages[slot] == page;
        writer.memory->page_for_write(number)[0] = 1;
        if (shared) page = ++identities;
      }
      REQUIRE(pool->stats().live_pages == reached());
      REQUIRE(memory_stats().live_pages - before.live_pages == reached());
    }
    CHECK(pool->stats().tables == 0);
    pool.reset();
    CHECK(memory_stats().live_pages == before.live_pages);
    CHECK(memory_stats().mapped_pages == before.mapped_pages);
    CHECK(memory_stats().tables == before.tables);
  }
}

TEST_ON_BOTH_MEMORIES(
    "a digest hashes the pages written since the last one and some that were open, whatever was written "
    "before or frozen") {
  auto pool = std::make_shared<PagePool>();
  const auto owner = fresh_memory(pool, kPages);
  MachineMemory& memory = *owner;
  std::vector<u32> model(kPages);
  const auto write = [&](u64 from, u64 count, u32 value) {
    for (u64 page = from; page < from + count; ++page) {
      fill(memory.page_for_write(page), value);
      model[page] = value;
    }
  };
  const auto hashed = [&] {
    const u64 before = memory.hashed_pages();
    REQUIRE(memory.sum() == model_sum(model));
    return memory.hashed_pages() - before;
  };
  // What nobody writes any more is hashed a few times at most.
  const auto settle = [&] {
    for (int i = 0; i < 3 && hashed() != 0; ++i) {
    }
    return hashed();
  };
  write(0, 200, 1);
  CHECK(hashed() == 200);
  CHECK(hashed() == 0);
  write(10, 3, 2);
  write(11, 1, 3);
  CHECK(hashed() == 3);
  CHECK(settle() == 0);
  const auto image = memory.freeze();
  CHECK(hashed() == 0);
  write(10, 2, 0);
  write(4000, 5, 4);
  CHECK(hashed() == 7);
  CHECK(settle() == 0);
  // A page that was open when the memory was frozen, left alone and written again after.
  write(20, 2, 5);
  const auto second = memory.freeze();
  write(20, 1, 6);
  CHECK(hashed() <= 2);
  CHECK(second->sum() != memory.sum());
}

TEST_CASE("what is written by a pointer that no digest voided is in the next one") {
  auto pool = std::make_shared<PagePool>();
  SoftMemory memory(pool, kPages);
  std::vector<u32> model(kPages);
  std::vector<u8*> open(kPages);
  std::mt19937 random(7);
  u64 kept = 0;
  for (u32 round = 1; round < 400; ++round) {
    // A few pages again and again, and now and then others: some stay open, some are closed.
    for (u64 i = 0; i < random() % 12; ++i) {
      const u64 page = random() % (round % 20 == 0 ? kPages : 10);
      if (open[page] == nullptr) {
        open[page] = memory.page_for_write(page);
      } else {
        ++kept;
      }
      model[page] = static_cast<u32>(random() % 3);
      fill(open[page], model[page]);
    }
    if (random() % 9 == 0) {
      CHECK(memory.freeze()->sum() == model_sum(model));
      open.assign(kPages, nullptr);
    }
    REQUIRE(memory.sum() == model_sum(model));
    if (memory.sum_voided()) open.assign(kPages, nullptr);
  }
  CHECK(kept > 200);
}

TEST_CASE("pages hashed several at once have the hashes of each alone") {
  std::mt19937_64 random(3);
  std::vector<u8> bytes(kHashedAtOnce * kPageSize);
  for (u8& byte : bytes) byte = static_cast<u8>(random() % 5 == 0 ? random() : 0);
  std::fill_n(bytes.begin() + kPageSize, kPageSize, u8{0});
  const u8* pages[kHashedAtOnce];
  for (u64 i = 0; i < kHashedAtOnce; ++i) pages[i] = &bytes[i * kPageSize];
  Digest hashes[kHashedAtOnce];
  hash_pages(pages, hashes);
  for (u64 i = 0; i < kHashedAtOnce; ++i) CHECK(hashes[i] == hash_page(pages[i]));
  CHECK(hashes[1] == zero_page_hash());
}
