#pragma once
// What Linux offers beyond the headers of older distributions: <linux/userfaultfd.h> up to 6.7, and
// PAGEMAP_SCAN of <linux/fs.h>. Numbers and layouts are the kernel's.
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "monitor/base/types.h"

namespace shinken::linux_faults {

inline constexpr u64 kUserModeOnly = 1;  // flag of the system call
inline constexpr u64 kFeatureWriteProtectShmem = u64{1} << 12;
inline constexpr u64 kFeatureWriteProtectUnpopulated = u64{1} << 13;
inline constexpr u64 kFeatureAsync = u64{1} << 15;
inline constexpr u64 kDeviceNew = _IO(0xaa, 0x00);

struct PageRegion {
  u64 start, end, categories;
};
struct PageScan {
  u64 size, flags, start, end, walk_end, vec, vec_len, max_pages;
  u64 category_inverted, category_mask, category_anyof_mask, return_mask;
};
inline constexpr unsigned long kPagemapScan = _IOWR('f', 16, PageScan);
inline constexpr u64 kScanProtectMatching = 1, kScanCheckAsync = 2;
inline constexpr u64 kPageIsWritten = 2, kPageIsFile = 4, kPageIsPresent = 8, kPageIsSwapped = 16,
                     kPageIsHuge = 64;

}  // namespace shinken::linux_faults
