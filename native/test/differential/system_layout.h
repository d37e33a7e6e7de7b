#pragma once
// Where everything lies in a system program: a flat binary entered in S-mode at kBase, by OpenSBI under QEMU
// and by our monitor. It runs fragments of random code under Sv39, in S- and U-mode, with every kind of page
// in their way, and prints one digest a fragment.
//
//   kBase + 0x0000  harness (system_harness.h)         kCode   fragments' code, one after another
//           0x2000  what the harness remembers                 seen by S at kSupervisorCode, by U at
//           kUserCode 0x3000  page tables                        kBig    2 MiB of RAM that a superpage may
//           show 0x8000  four pages of data
//          0x10000  table of fragments
#include "monitor/base/types.h"

namespace shinken::test::system {

inline constexpr u64 kBase = kRamBase + 0x200000;
inline constexpr u64 kState = kBase + 0x2000;
inline constexpr u64 kRoot = kBase + 0x3000, kMiddle = kBase + 0x4000;
inline constexpr u64 kSupervisorLeaf = kBase + 0x5000, kUserLeaf = kBase + 0x6000, kDataLeaf = kBase + 0x7000;
inline constexpr u64 kData = kBase + 0x8000;
inline constexpr u64 kDataPages = 4;
inline constexpr u64 kTable = kBase + 0x10000;
inline constexpr u64 kBig = kRamBase + 0x2000000;
/// Nothing is there, neither on our board nor on QEMU's virt.
inline constexpr u64 kNowhere = 0x200000;

inline constexpr u64 kSupervisorCode = 0x40000000, kUserCode = 0x50000000;
/// Eight pages, as the fragment has them; then nothing; then what a superpage shows.
inline constexpr u64 kWindow = 0x60000000, kWindowPages = 8;
inline constexpr u64 kSuperWindow = kWindow + 0x200000;

/// What the harness remembers: offsets from kState. The first 65 words are a fragment's registers.
enum State : i32 {
  kSavedX = 0,
  kSavedF = 0x100,
  kSavedFcsr = 0x200,
  kHash = 0x210,
  kTraps = 0x218,
  kNumber = 0x220,
  kFragment = 0x228,
  kScratch = 0x230,
  kClaim = 0x238,
  // Set in the binary.
  kVerbose = 0x240,
  kCount = 0x248,
  // How often which trap was taken, by cause; interrupts from 16 on.
  kTaken = 0x300,
};
inline constexpr u64 kCauses = 32;
inline constexpr u64 kSavedWords = 65;

/// A fragment in the table.
struct Fragment {
  u64 x[32];
  u64 f[32];
  u64 fcsr;
  u64 entry, end;              // virtual
  u64 sstatus, sie, sip;       // at its first instruction
  u64 pages[kWindowPages];     // page-table entries of the window
  u64 super;                   // and of the superpage
  u64 repaired[kWindowPages];  // what a page fault makes of an entry; 0: the instruction is skipped
  u64 entry_mask;              // bits of entries that count at the end
  u64 pending;                 // kTimerPending, kSerialPending
  u64 pool[24];                // constants that its code finds at x3
};
inline constexpr u64 kTimerPending = 1, kSerialPending = 2;
inline constexpr u64 kFragmentShift = 10;
static_assert(sizeof(Fragment) <= u64{1} << kFragmentShift);

}  // namespace shinken::test::system
