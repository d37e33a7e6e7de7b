// Address translation, misaligned and atomic accesses, code that changes.
#include <doctest/doctest.h>

#include "test/support/assembler.h"
#include "test/support/flat_machine.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u64 kEntry = FlatMachine::kEntry;
constexpr u64 kVector = kRamBase + 0x300000;
constexpr u64 kTables = kRamBase + 0x100000;
constexpr u64 kLeafTable = kTables + 0x2000;
constexpr u64 kWindow = 0x40000000;  // 512 pages of 4 KiB behind kLeafTable
constexpr u64 kData = kRamBase + 0x400000;
constexpr u64 kRwx = 0xcf, kRw = 0xc7, kRo = 0xc3, kUser = 0x10, kValidRw = 0x07;

u64 entry_for(u64 pa, u64 bits) {
  return pa >> 12 << 10 | bits;
}

/// Sv39 with RAM mapped onto itself by one gigapage, and a window of small pages.
struct Paged : FlatMachine {
  explicit Paged(const std::vector<u32>& code) {
    memory.write<u64>(kTables + 8 * 2, entry_for(kRamBase, kRwx));
    memory.write<u64>(kTables + 8 * 1, entry_for(kTables + 0x1000, 1));
    memory.write<u64>(kTables + 0x1000, entry_for(kLeafTable, 1));
    load(kEntry, code);
    load(kVector, {as::jal(0, 0)});
    state().stvec = kVector;
    state().satp = kSatpModeSv39 | kTables >> 12;
    x(9) = kWindow;
    x(10) = kLeafTable;
  }
  void map(u64 index, u64 pa, u64 bits) { memory.write<u64>(kLeafTable + 8 * index, entry_for(pa, bits)); }
  u64 leaf(u64 index) { return memory.read<u64>(kLeafTable + 8 * index); }
  HartState& state() { return hart.state(); }
};

constexpr u64 kOtherRoot = kTables + 0x4000;
constexpr u64 kUpperMiddle = kTables + 0x5000, kUpperLeaf = kTables + 0x6000;
constexpr u64 kOtherMiddle = kTables + 0x7000, kOtherLeaf = kTables + 0x8000;
constexpr u64 kUpper = ~u64{0} << 38;  // the first address of the upper half

/// Two address spaces that share the upper half: kUpper shows 102; kWindow shows 101 in the first, 201 in the
/// other.
struct TwoSpaces : Paged {
  explicit TwoSpaces(const std::vector<u32>& code) : Paged(code) {
    const u64 values[] = {101, 102, 103, 201};
    for (u64 i = 0; i < 4; ++i) memory.write<u64>(page(i), values[i]);
    map(0, page(0), kRw);
    memory.write<u64>(kUpperMiddle, entry_for(kUpperLeaf, 1));
    memory.write<u64>(kUpperLeaf, entry_for(page(1), kRw));
    memory.write<u64>(kOtherMiddle, entry_for(kOtherLeaf, 1));
    memory.write<u64>(kOtherLeaf, entry_for(page(3), kRw));
    memory.write<u64>(kOtherRoot + 8 * 2, entry_for(kRamBase, kRwx));
    memory.write<u64>(kOtherRoot + 8 * 1, entry_for(kOtherMiddle, 1));
    for (u64 root : {kTables, kOtherRoot}) memory.write<u64>(root + 8 * 256, entry_for(kUpperMiddle, 1));
    x(11) = kUpper;
    x(12) = kSatpModeSv39 | kOtherRoot >> 12;
    x(13) = kSatpModeSv39 | kTables >> 12;
  }
  static u64 page(u64 i) { return kData + (i << kPageShift); }
};

}  // namespace

TEST_CASE("an address space is left with its own half, and what both share stays") {
  TwoSpaces machine({as::ld(5, 9, 0), as::ld(6, 11, 0), as::csrrw(0, kCsrSatp, 12), as::ld(7, 9, 0),
                     as::ld(28, 11, 0), as::csrrw(0, kCsrSatp, 13), as::ld(29, 9, 0), as::ld(30, 11, 0)});
  machine.hart.run(8);
  CHECK(machine.x(5) == 101);
  CHECK(machine.x(6) == 102);
  CHECK(machine.x(7) == 201);
  CHECK(machine.x(28) == 102);
  CHECK(machine.x(29) == 101);
  CHECK(machine.x(30) == 102);
}

TEST_CASE("after a switch every table of the new address space still counts, shared or not") {
  struct Case {
    u64 at, value;  // an entry that the guest changes in the second address space
    u32 load;
    u64 cause, result;
  };
  const u64 moved = entry_for(TwoSpaces::page(2), kRw);
  const Case cases[] = {{kUpperLeaf, moved, as::ld(7, 11, 0), 0, 103},
                        {kUpperLeaf, 0, as::ld(7, 11, 0), kLoadPageFault, 7},
                        {kUpperMiddle, 0, as::ld(7, 11, 0), kLoadPageFault, 7},
                        {kOtherRoot + 8 * 256, 0, as::ld(7, 11, 0), kLoadPageFault, 7},
                        {kTables + 8 * 256, 0, as::ld(7, 11, 0), 0, 102},
                        {kOtherLeaf, moved, as::ld(7, 9, 0), 0, 103},
                        {kOtherMiddle, 0, as::ld(7, 9, 0), kLoadPageFault, 7},
                        {kOtherRoot + 8, 0, as::ld(7, 9, 0), kLoadPageFault, 7},
                        {kLeafTable, 0, as::ld(7, 9, 0), 0, 201}};
  for (const Case& one : cases) {
    CAPTURE(one.at);
    TwoSpaces machine({as::ld(5, 9, 0), as::ld(6, 11, 0), as::csrrw(0, kCsrSatp, 12), as::ld(5, 9, 0),
                       as::ld(6, 11, 0), as::sd(15, 14, 0), one.load});
    machine.x(7) = 7;
    machine.x(14) = one.at;
    machine.x(15) = one.value;
    machine.hart.run(7);
    CHECK(machine.state().scause == one.cause);
    CHECK(machine.x(7) == one.result);
  }
}

TEST_CASE("address spaces that differ in the upper half share nothing") {
  TwoSpaces machine({as::ld(6, 11, 0), as::csrrw(0, kCsrSatp, 12), as::ld(7, 11, 0)});
  machine.memory.write<u64>(kOtherRoot + 8 * 256, entry_for(kOtherMiddle, 1));
  machine.hart.run(3);
  CHECK(machine.x(6) == 102);
  CHECK(machine.x(7) == 201);
}

TEST_CASE("a function is called anew after its page was mapped elsewhere") {
  // The far jump is known from the first call.
  for (const u64 space : {kWindow, kUpper}) {
    CAPTURE(space);
    TwoSpaces machine({as::jalr(1, 20, 0), as::sd(15, 14, 0), as::jalr(1, 20, 0), as::csrrw(0, kCsrSatp, 12),
                       as::jalr(1, 20, 0)});
    const u64 entry = space == kWindow ? kLeafTable : kUpperLeaf;
    for (u64 i = 0; i < 4; ++i) {
      machine.load(TwoSpaces::page(i), {as::addi(5, 5, static_cast<i32>(1) << (3 * i)), as::jalr(0, 1, 0)});
    }
    machine.memory.write<u64>(entry, entry_for(TwoSpaces::page(0), kRwx));
    machine.memory.write<u64>(kOtherLeaf, entry_for(TwoSpaces::page(3), kRwx));
    machine.x(20) = space;
    machine.x(14) = entry;
    machine.x(15) = entry_for(TwoSpaces::page(1), kRwx);
    machine.hart.run(11);
    CHECK(machine.state().scause == 0);
    CHECK(machine.x(5) == 1 + 8 + (space == kWindow ? 512 : 8));
  }
}

TEST_CASE("the walker sets A on a read and D on a write") {
  Paged machine({as::ld(5, 9, 0), as::sd(6, 9, 0)});
  machine.map(0, kData, kValidRw);
  machine.hart.run(1);
  CHECK((machine.leaf(0) & 0xc0) == 0x40);
  machine.hart.run(2);
  CHECK((machine.leaf(0) & 0xc0) == 0xc0);
}

TEST_CASE("page faults say what and where") {
  struct Case {
    u64 bits;
    u32 code;
    u64 cause;
    u8 mode;
  };
  const Case cases[] = {{0, as::ld(5, 9, 8), kLoadPageFault, 1},
                        {0, as::sd(5, 9, 8), kStorePageFault, 1},
                        {kRo, as::sd(5, 9, 8), kStorePageFault, 1},
                        {0xc5, as::ld(5, 9, 8), kLoadPageFault, 1},
                        {0xc9, as::ld(5, 9, 8), kLoadPageFault, 1},
                        {kRw | kUser, as::ld(5, 9, 8), kLoadPageFault, 1},
                        {kRo, as::amoadd_d(5, 6, 9), kStorePageFault, 1},
                        {kRw | u64{1} << 54, as::ld(5, 9, 8), kLoadPageFault, 1}};
  for (const Case& one : cases) {
    CAPTURE(one.bits);
    Paged machine({one.code});
    machine.map(0, kData, one.bits);
    machine.hart.run(1);
    CHECK(machine.state().scause == one.cause);
    CHECK(machine.state().stval == kWindow + (one.code == as::amoadd_d(5, 6, 9) ? 0 : 8));
    CHECK(machine.state().sepc == kEntry);
  }
}

TEST_CASE("SUM lets the supervisor at user pages, MXR makes execute-only pages readable") {
  Paged sum({as::ld(5, 9, 0)});
  sum.map(0, kData, kRw | kUser);
  sum.state().sstatus = kSstatusSum;
  sum.hart.run(1);
  CHECK(sum.state().scause == 0);

  Paged mxr({as::csrrs(0, kCsrSstatus, 6), as::ld(5, 9, 0), as::csrrc(0, kCsrSstatus, 6), as::ld(5, 9, 0)});
  mxr.map(0, kData, 0xc9);
  mxr.x(6) = kSstatusMxr;
  mxr.hart.run(3);
  CHECK(mxr.state().scause == 0);
  mxr.hart.run(4);
  CHECK(mxr.state().scause == kLoadPageFault);
}

TEST_CASE("addresses beyond Sv39 and beyond RAM fault") {
  Paged machine({as::ld(5, 6, 0)});
  machine.x(6) = u64{1} << 39;
  machine.hart.run(1);
  CHECK(machine.state().scause == kLoadPageFault);

  Paged outside({as::ld(5, 9, 0)});
  outside.map(0, 0x1000, kRw);
  outside.hart.run(1);
  CHECK(outside.state().scause == kLoadAccess);

  Paged fetch({as::jalr(0, 9, 0)});
  fetch.map(0, FlatBus::kDevice, kRwx);
  fetch.hart.run(2);
  CHECK(fetch.state().scause == kFetchAccess);
  CHECK(fetch.state().sepc == kWindow);
}

TEST_CASE("a changed entry counts at once, without a fence") {
  // Two loads from one page; between them the entry is pointed elsewhere.
  Paged machine({as::ld(5, 9, 0), as::sd(7, 10, 0), as::ld(6, 9, 0)});
  machine.map(0, kData, kRw);
  machine.memory.write<u64>(kData, 111);
  machine.memory.write<u64>(kData + 0x1000, 222);
  machine.x(7) = entry_for(kData + 0x1000, kRw);
  machine.hart.run(3);
  CHECK(machine.x(5) == 111);
  CHECK(machine.x(6) == 222);
}

TEST_CASE("clearing the accessed bit makes the next access set it again") {
  Paged machine({as::ld(5, 9, 0), as::sd(7, 10, 0), as::ld(6, 9, 0)});
  machine.map(0, kData, kRw);
  machine.x(7) = entry_for(kData, kValidRw);
  machine.hart.run(3);
  CHECK((machine.leaf(0) & 0x40) != 0);
}

TEST_CASE("a device that writes a page table is noticed") {
  Paged machine({as::ld(5, 9, 0), as::sd(0, 11, 0), as::ld(6, 9, 0)});
  machine.map(0, kData, kRw);
  machine.map(1, FlatBus::kDevice, kRw);
  machine.x(11) = kWindow + 0x1000;
  machine.memory.write<u64>(kData + 0x1000, 222);
  machine.bus.on_write = [&machine](u64, u64) { machine.map(0, kData + 0x1000, kRw); };
  machine.hart.run(3);
  CHECK(machine.state().scause == 0);
  CHECK(machine.x(6) == 222);
}

TEST_CASE("misaligned accesses work within and across pages") {
  Paged machine({as::sd(7, 8, 0), as::ld(5, 8, 0), as::lw(6, 8, 2)});
  machine.map(0, kData + 0x5000, kRw);
  machine.map(1, kData, kRw);
  machine.x(8) = kWindow + 0xffd;
  machine.x(7) = 0x1122334455667788;
  machine.hart.run(3);
  CHECK(machine.x(5) == 0x1122334455667788);
  CHECK(machine.x(6) == 0x33445566);
  CHECK(machine.memory.read<u8>(kData + 0x5ffd) == 0x88);
  CHECK(machine.memory.read<u8>(kData) == 0x55);
}

TEST_CASE("a misaligned store that faults on its second page writes nothing") {
  Paged machine({as::sd(7, 8, 0)});
  machine.map(0, kData, kValidRw);
  machine.x(8) = kWindow + 0xffd;
  machine.x(7) = ~u64{0};
  machine.hart.run(1);
  CHECK(machine.state().scause == kStorePageFault);
  CHECK(machine.state().stval == kWindow + 0x1000);
  CHECK(machine.memory.read<u8>(kData + 0xffd) == 0);
  CHECK((machine.leaf(0) & 0x80) == 0);
}

TEST_CASE("misaligned atomics trap") {
  Paged amo({as::amoadd_d(5, 6, 8)});
  amo.x(8) = kData + 4;
  amo.hart.run(1);
  CHECK(amo.state().scause == kStoreMisaligned);
  CHECK(amo.state().stval == kData + 4);
  Paged lr({as::lr_d(5, 8)});
  lr.x(8) = kData + 4;
  lr.hart.run(1);
  CHECK(lr.state().scause == kLoadMisaligned);
}

TEST_CASE("a conditional store succeeds once, and only at the reserved address") {
  Paged machine({as::lr_d(5, 8), as::sc_d(6, 7, 8), as::sc_d(11, 7, 8), as::lr_d(5, 8), as::sc_d(12, 7, 13)});
  machine.x(8) = kData;
  machine.x(7) = 42;
  machine.x(13) = kData + 8;
  machine.hart.run(5);
  CHECK(machine.memory.read<u64>(kData) == 42);
  CHECK(machine.x(6) == 0);
  CHECK(machine.x(11) == 1);
  CHECK(machine.x(12) == 1);
}

TEST_CASE("a store into the block that executes it takes effect at the next instruction") {
  const u32 after = as::addi(5, 0, 99);
  Paged machine({as::sw(7, 8, 0), as::addi(5, 0, 1), as::kNop});
  machine.x(8) = kEntry + 4;
  machine.x(7) = after;
  machine.hart.run(3);
  CHECK(machine.x(5) == 99);
}

TEST_CASE("a page that was written before it ran, runs, and is written again runs its new code") {
  // The write translation is warm when the page becomes code.
  for (const bool fence : {false, true}) {
    CAPTURE(fence);
    const u32 between = fence ? as::kFenceI : as::kNop;
    Paged machine({as::sw(7, 8, 0), as::sw(12, 8, 4), between, as::jalr(1, 8, 0),  // x5 = 1
                   as::sw(11, 8, 0), between, as::jalr(1, 8, 0)});                 // x5 = 2
    machine.x(8) = kData;
    machine.x(7) = as::addi(5, 5, 1);
    machine.x(11) = as::addi(5, 5, 2);
    machine.x(12) = as::jalr(0, 1, 0);
    machine.hart.run(11);
    CHECK(machine.x(5) == 3);
    CHECK(machine.state().scause == 0);
  }
}

TEST_CASE("an instruction across two pages follows its second page") {
  const u32 one = as::addi(5, 5, 1);
  const u32 two = as::addi(5, 5, 2);
  Paged machine({as::jalr(1, 8, 0), as::sd(7, 10, 8), as::jalr(1, 8, 0)});
  for (const u64 page : {kData + 0x1000, kData + 0x2000}) {
    const u16 rest[3] = {static_cast<u16>((page == kData + 0x1000 ? one : two) >> 16),
                         static_cast<u16>(as::jalr(0, 1, 0)), static_cast<u16>(as::jalr(0, 1, 0) >> 16)};
    machine.memory.put(page, rest, sizeof rest);
  }
  machine.memory.write<u16>(kData + 0xffe, static_cast<u16>(one));
  machine.map(0, kData, kRwx);
  machine.map(1, kData + 0x1000, kRwx);
  machine.x(8) = kWindow + 0xffe;
  machine.x(7) = entry_for(kData + 0x2000, kRwx);
  machine.hart.run(7);
  CHECK(machine.x(5) == 3);
  CHECK(machine.state().scause == 0);

  machine.state().pc = kWindow + 0xffe;
  machine.map(1, 0, 0);
  machine.hart.run(8);
  CHECK(machine.state().scause == kFetchPageFault);
  CHECK(machine.state().sepc == kWindow + 0xffe);
  CHECK(machine.state().stval == kWindow + 0x1000);
}

TEST_CASE("decoded code that a golden shares serves its descendants, who decode what it lacks") {
  std::vector<u32> code = {as::addi(5, 5, 1), as::addi(6, 6, -1), as::bne(6, 0, -8), as::jal(0, 8),
                           as::kNop,          as::addi(7, 7, 1),  as::jal(0, -4)};
  FlatMachine parent;
  parent.load(kEntry, code);
  parent.x(6) = 10;
  parent.hart.run(31);  // up to the jump: what follows is not decoded yet
  parent.memory.mark_shared((kEntry - kRamBase) >> kPageShift, true);
  const auto shared = parent.hart.share_blocks();
  const auto run_child = [&] {
    FlatBus bus;
    Hart child(&parent.memory, &bus, shared);  // over the same bytes, as a fork has
    child.state().pc = kEntry;
    child.state().x[6] = 10;
    child.run(61);
    CHECK(child.state().x[7] == 15);
    return child.state().x[5];
  };
  CHECK(run_child() == 10);
  CHECK(run_child() == 10);
  // No longer the golden's: the shared blocks must not serve it.
  parent.load(kEntry, {as::addi(5, 5, 3)});
  CHECK(run_child() == 30);
}

TEST_CASE("a grandchild's golden carries on both its parent's blocks and its own") {
  std::vector<u32> code = {as::addi(5, 5, 1), as::addi(6, 6, -1), as::bne(6, 0, -8), as::jal(0, 8),
                           as::kNop,          as::addi(7, 7, 1),  as::bne(7, 8, -4), as::jal(0, -24)};
  FlatMachine parent;
  parent.load(kEntry, code);
  parent.x(6) = 10;
  parent.hart.run(31);
  parent.memory.mark_shared((kEntry - kRamBase) >> kPageShift, true);
  std::shared_ptr<const SharedBlocks> shared = parent.hart.share_blocks();
  u64 expected[3] = {};
  for (int generation = 0; generation < 4; ++generation) {
    FlatBus bus;
    Hart child(&parent.memory, &bus, shared);
    child.state().pc = kEntry;
    child.state().x[6] = 3;
    child.state().x[8] = 5;
    child.run(500);
    const u64 seen[3] = {child.state().x[5], child.state().x[7], child.state().pc};
    if (generation == 0) std::memcpy(expected, seen, sizeof seen);
    CHECK(std::memcmp(expected, seen, sizeof seen) == 0);
    shared = child.share_blocks();
  }
}
