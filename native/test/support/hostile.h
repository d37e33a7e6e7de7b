#pragma once
// Random hostile programs: they rewrite their page tables, overwrite their code, trap, take timer interrupts
// and change modes. Whatever a cache may get wrong, they do.
#include <array>
#include <cstring>

#include "test/support/assembler.h"

namespace shinken::test {

/// Straight-line code mixed with the instructions that caches get wrong. The calm half of the programs leave
/// their code and their page tables alone and so get somewhere.
inline Code hostile_code(Random& random, u64 bytes, bool calm) {
  SequenceMaker maker(random);
  Code code;
  const auto reg = [&random] { return random.below(32); };
  const auto imm = [&random] { return static_cast<i32>(random.below(4096)) - 2048; };
  // Most programs loop early, so that what they overwrote comes round again.
  const u64 loop = u64{200} << random.below(7);
  while (code.size() * 2 < bytes) {
    if (code.size() * 2 % loop < 8 && code.size() > 8 && random.chance(70)) {
      emit32(code, as::jal(0, -static_cast<i32>(2 * code.size())));
    }
    u64 kind = random.below(25);
    if (calm && (kind < 6 || kind == 12 || kind == 14)) kind = 24;
    switch (kind) {
      case 0:
        emit32(code, as::sd(reg(), 8, imm() & ~7));
        break;  // into code
      case 1:
        emit32(code, as::sw(reg(), 8, imm()));
        break;
      case 2:
        emit32(code, as::sd(reg(), 9, 8 * static_cast<i32>(random.below(8))));
        break;  // a page-table entry
      case 3:
        emit32(code, encode::r(0x2f, 0, 3, 9, reg(), random.chance(50) ? 0x0c << 2 : 0x08 << 2));
        break;
      case 4:
        emit32(code, as::ld(5, 9, 8 * static_cast<i32>(random.below(8))));
        break;
      case 5:  // clear A or D of an entry, keep the rest
        emit32(code, as::addi(6, 0, random.chance(50) ? -65 : -129));
        emit32(code, encode::r(0x2f, 0, 3, 9, 6, 0x0c << 2));
        break;
      case 6:
        emit32(code, random.chance(50) ? as::kFenceI : as::kSfenceVma);
        break;
      case 7:
        emit32(code, as::csrrs(0, kCsrSstatus, reg()));
        break;
      case 8:
        emit32(code, as::csrrc(0, kCsrSstatus, reg()));
        break;
      case 9:
        emit32(code, as::csrrs(reg() | 4, kCsrSie, reg()));
        break;
      case 10:
        emit32(code, as::csrrs(7, kCsrTime, 0));
        emit32(code, as::addi(7, 7, static_cast<i32>(random.below(40))));
        emit32(code, as::csrrw(0, kCsrStimecmp, 7));
        break;
      case 11:
        emit32(code, as::csrrw(0, kCsrSip, reg()));
        break;
      case 12:
        emit32(code, static_cast<u32>(random.next()));
        break;
      case 13:
        emit32(code, as::beq(reg(), reg(), (imm() >> 2) & ~1));
        break;
      case 14:
        emit32(code, as::jal(0, (imm() * 4) & ~1));
        break;
      case 15:
        emit32(code, as::lw(reg() | 4, 2, imm()));
        break;
      case 16:
        emit32(code, as::sd(reg(), 2, imm()));
        break;
      case 17: {  // what stays within a block
        const u64 which = random.below(6);
        if (which == 0) emit32(code, encode::i(0x73, 7, reg(), 2, kCsrSstatus));
        if (which == 1) emit32(code, as::addi(6, 0, random.chance(50) ? 2 : 0));
        if (which <= 2) emit32(code, as::csrrs(reg(), kCsrSstatus, which == 1 ? 6 : reg()));
        if (which == 3) emit32(code, as::csrrw(reg(), kCsrSscratch, reg()));
        if (which == 4) emit32(code, as::csrrs(reg(), random.chance(50) ? kCsrScause : kCsrStval, 0));
        if (which == 5) emit32(code, as::csrrs(reg(), kCsrSepc, 0));
        if (which == 5 && random.chance(50)) emit32(code, as::csrrw(reg(), kCsrSepc, reg()));
        break;
      }
      default:
        maker.append(code, 1 + random.below(6));
        break;
    }
  }
  return code;
}

/// The memory and registers that such a program starts from; the same for the same seed. It lies in `kPages`
/// pages that begin at physical page `base`.
struct HostileProgram {
  /// The window: 8 pages of code and data, the page tables, the trap handler. Pages 0 to 15 are nobody's.
  /// A third of the programs live where a kernel does.
  const u64 window;
  static constexpr u64 kRoot = 16, kMiddle = 17, kLeaf = 18, kHandler = 20, kFirst = 32, kPages = 64;

  struct Piece {
    u64 offset;  // from the first page
    std::vector<u8> bytes;
  };
  std::vector<Piece> pieces;
  std::array<u64, 32> x, f;
  u64 stvec, satp, sstatus, sie, stimecmp, pc;

  explicit HostileProgram(u64 seed, u64 base = 0)
      : window(seed % 3 == 0 ? 0xffffffff80000000 : 0x40000000), base_(base) {
    Random random(seed);
    entry(kRoot, window >> 30 & 511, pointer(kMiddle, 1));
    entry(kMiddle, 0, pointer(kLeaf, 1));
    for (u64 i = 0; i < 8; ++i) {
      const u64 user = random.chance(25) ? 16 : 0;
      entry(kLeaf, i, pointer(kFirst + i, (i < 4 ? 0xf : 0x7) | user));
    }
    for (u64 table : {kRoot, kMiddle, kLeaf}) entry(kLeaf, table, pointer(table, 7));
    entry(kLeaf, kHandler, pointer(kHandler, 0xb));
    put(kFirst << kPageShift, hostile_code(random, 4 * kPageSize, seed % 2 == 0).data(), 4 * kPageSize);
    stvec = window + kHandler * kPageSize;
    // Skip the instruction that trapped; start over when it could not even be fetched.
    const std::vector<u32> trap = {as::csrrs(3, kCsrScause, 0),
                                   as::bge(3, 0, 20),  // an interrupt: disarm the timer, drop SSIP, go on
                                   as::addi(3, 0, -1),
                                   as::csrrw(0, kCsrStimecmp, 3),
                                   as::csrrw(0, kCsrSip, 0),
                                   as::kSret,
                                   as::addi(3, 3, -12),
                                   as::beq(3, 0, 20),
                                   as::csrrs(3, kCsrSepc, 0),
                                   as::addi(3, 3, 2),
                                   as::csrrw(0, kCsrSepc, 3),
                                   as::kSret,
                                   as::lui(3, static_cast<u32>(window >> 12) & 0xfffff),
                                   as::csrrw(0, kCsrSepc, 3),
                                   as::kSret};
    put(kHandler << kPageShift, trap.data(), trap.size() * 4);
    for (u64& value : x) value = interesting_integer(random);
    for (u64& value : f) value = interesting_float(random);
    x[0] = 0;
    x[2] = window + 4 * kPageSize + 0x800 + random.below(0x2000);
    // Within reach of the code that runs; sometimes from the page's end into the next page.
    x[8] = window + (random.chance(50) ? 0x400 : 0x800) + random.below(random.chance(50) ? 0x400 : 0x3000);
    x[9] = window + kLeaf * kPageSize + 8 * random.below(8);
    satp = kSatpModeSv39 | address(kRoot) >> 12;
    sstatus = kSstatusFs | (random.chance(50) ? kSstatusSum : 0) | (random.chance(50) ? kSstatusSie : 0);
    sie = random.chance(70) ? kInterruptMask : 0;
    stimecmp = random.chance(50) ? random.below(500) : ~u64{0};
    pc = window;
  }

  /// The program as a flat binary, to be loaded at its first page and entered there in S-mode without paging:
  /// a prologue loads the registers and turns paging on.
  std::vector<u8> binary() const {
    std::vector<u8> out(kPages << kPageShift);
    const auto copy = [&out](u64 offset, const void* from, u64 size) {
      std::memcpy(&out[offset], from, size);
    };
    for (const Piece& piece : pieces) copy(piece.offset, piece.bytes.data(), piece.bytes.size());
    const u64 control[] = {sstatus & ~kSstatusSie, stvec, stimecmp, satp};
    constexpr u32 kData = 31;
    constexpr i32 kFloats = 256, kControl = 512;
    copy(kPageSize, x.data(), sizeof x);
    copy(kPageSize + kFloats, f.data(), sizeof f);
    copy(kPageSize + kControl, control, sizeof control);
    std::vector<u32> code = {as::auipc(kData, 1)};
    const u32 csr[] = {kCsrSstatus, kCsrStvec, kCsrStimecmp};
    for (i32 i = 0; i < 3; ++i) {
      code.push_back(as::ld(5, kData, kControl + 8 * i));
      code.push_back(as::csrrw(0, csr[i], 5));
    }
    for (i32 i = 0; i < 32; ++i) code.push_back(as::i(0x07, static_cast<u32>(i), 3, kData, kFloats + 8 * i));
    for (i32 i = 1; i < 31; ++i) {
      if (i != 5) code.push_back(as::ld(static_cast<u32>(i), kData, 8 * i));
    }
    code.push_back(as::ld(5, kData, kControl + 8 * 3));
    // The next instruction has no translation: its fault leads to the handler, which starts the program.
    code.push_back(as::csrrw(5, kCsrSatp, 5));
    copy(0, code.data(), code.size() * 4);
    return out;
  }

  u64 address(u64 page) const { return kRamBase + ((base_ + page) << kPageShift); }

 private:
  u64 pointer(u64 page, u64 bits) const { return (address(page) >> 12) << 10 | bits; }
  void put(u64 offset, const void* data, u64 size) {
    const u8* from = static_cast<const u8*>(data);
    pieces.push_back({offset, {from, from + size}});
  }
  void entry(u64 table, u64 index, u64 value) { put((table << kPageShift) + 8 * index, &value, 8); }
  u64 base_;
};

}  // namespace shinken::test
