#pragma once
// Numbers and bit positions of the supervisor's registers.
// Source: The RISC-V Instruction Set Manual, Volume II: Privileged Architecture (20211203), and the Sstc
// extension 1.0.
#include "monitor/base/types.h"

namespace shinken {

enum Csr : u32 {
  kCsrFflags = 0x001,
  kCsrFrm = 0x002,
  kCsrFcsr = 0x003,
  kCsrSstatus = 0x100,
  kCsrSie = 0x104,
  kCsrStvec = 0x105,
  kCsrScounteren = 0x106,
  kCsrSenvcfg = 0x10a,
  kCsrSscratch = 0x140,
  kCsrSepc = 0x141,
  kCsrScause = 0x142,
  kCsrStval = 0x143,
  kCsrSip = 0x144,
  kCsrStimecmp = 0x14d,
  kCsrSatp = 0x180,
  kCsrCycle = 0xc00,
  kCsrTime = 0xc01,
  kCsrInstret = 0xc02,
};

inline constexpr u64 kSstatusSie = u64{1} << 1;
inline constexpr u64 kSstatusSpie = u64{1} << 5;
inline constexpr u64 kSstatusSpp = u64{1} << 8;
inline constexpr u64 kSstatusFs = u64{3} << 13;
inline constexpr u64 kSstatusSum = u64{1} << 18;
inline constexpr u64 kSstatusMxr = u64{1} << 19;
inline constexpr u64 kSstatusUxl64 = u64{2} << 32;
inline constexpr u64 kSstatusSd = u64{1} << 63;
inline constexpr u64 kSstatusWritable =
    kSstatusSie | kSstatusSpie | kSstatusSpp | kSstatusFs | kSstatusSum | kSstatusMxr;

inline constexpr u64 kInterruptSoftware = u64{1} << 1;
inline constexpr u64 kInterruptTimer = u64{1} << 5;
inline constexpr u64 kInterruptExternal = u64{1} << 9;
inline constexpr u64 kInterruptMask = kInterruptSoftware | kInterruptTimer | kInterruptExternal;
inline constexpr u64 kCauseInterrupt = u64{1} << 63;

inline constexpr u64 kSatpModeSv39 = u64{8} << 60;
inline constexpr u64 kSatpPpn = (u64{1} << 44) - 1;

enum Cause : u64 {
  kFetchAccess = 1,
  kIllegalInstruction = 2,
  kBreakpoint = 3,
  kLoadMisaligned = 4,
  kLoadAccess = 5,
  kStoreMisaligned = 6,
  kStoreAccess = 7,
  kEcallFromUser = 8,
  kFetchPageFault = 12,
  kLoadPageFault = 13,
  kStorePageFault = 15,
};

}  // namespace shinken
