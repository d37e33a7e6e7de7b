#include "monitor/machine/loader.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>

#include "monitor/base/bytes.h"
#include "monitor/base/error.h"
#include "monitor/machine/abi.h"
#include "monitor/machine/layout.h"
#include "monitor/memory/segments.h"

namespace shinken {
namespace {

// Documentation/arch/riscv/boot-image-header.rst of the Linux kernel.
constexpr std::size_t kImageHeader = 64;
constexpr u64 kImageMagic = 0x5643534952;  // "RISCV"
constexpr u32 kImageMagic2 = 0x05435352;   // "RSC\x05"
// ELF-64 object file format, and the RISC-V ELF psABI for the machine number.
constexpr std::size_t kElfHeader = 64, kElfProgramHeader = 56;
constexpr u16 kElfMachineRiscv = 243;
constexpr u32 kElfLoad = 1, kElfNote = 4;
constexpr u32 kElfReadOnly = 4;
constexpr u16 kMaxProgramHeaders = 64;
// What linkers put ahead of a program whose own address they do not know: headers and a build id, well below
// a page.
constexpr u64 kMaxElfPreamble = kPageSize;

[[noreturn]] void bad(const std::string& why) {
  throw MonitorError(ErrorKind::kBadProgram, why);
}

[[noreturn]] void bad_segment(u64 address, const GuestMemory& memory) {
  char text[160];
  (void)std::snprintf(text, sizeof text,
                      "the segment at 0x%" PRIx64 " lies outside RAM, which is 0x%" PRIx64 " to 0x%" PRIx64
                      "; link the program there",
                      address, kRamBase, kRamBase + memory.size());
  bad(text);
}

void put(GuestMemory& memory, u64 address, std::span<const u8> bytes) {
  if (!write_guest(memory, address, bytes.data(), bytes.size())) bad("the program does not fit into RAM");
}

bool is_image(std::span<const u8> file) {
  return file.size() >= kImageHeader && load_le<u64>(file.data() + 48) == kImageMagic &&
         load_le<u32>(file.data() + 56) == kImageMagic2;
}

Loaded load_image(GuestMemory& memory, std::span<const u8> file) {
  const u64 offset = load_le<u64>(file.data() + 8), size = load_le<u64>(file.data() + 16);
  if ((load_le<u64>(file.data() + 24) & 1) != 0) bad("a big-endian kernel");
  if (offset % kPageSize != 0 || offset > kMaxMemoryMiB << 20) bad("an Image with a strange text offset");
  const u64 base = kRamBase + offset;
  if (!memory.contains(base, std::max<u64>(size, file.size()))) bad("the Image does not fit into RAM");
  put(memory, base, file);
  return {base, base + std::max<u64>(size, file.size()), "image"};
}

/// The program headers of an ELF file: `count` of them at `table`, all within the file.
struct ElfHeaders {
  std::span<const u8> file;
  u64 table;
  u16 count;
  [[nodiscard]] const u8* at(u16 i) const { return file.data() + table + i * kElfProgramHeader; }
};

/// Whether the bytes `from` to `to` of the file are ELF headers, notes and zeros between them: nothing that a
/// program runs or has as data. `to - from` is at most kMaxElfPreamble, which bounds the work.
bool is_preamble(const ElfHeaders& elf, u64 from, u64 to) {
  std::vector<bool> told(to - from);
  const auto tell = [&](u64 begin, u64 size) {
    const u64 end = size > to - std::min(begin, to) ? to : begin + size;
    for (u64 at = std::max(begin, from); at < end; ++at) told[at - from] = true;
  };
  tell(0, kElfHeader);
  tell(elf.table, u64{elf.count} * kElfProgramHeader);
  for (u16 i = 0; i < elf.count; ++i) {
    const u8* p = elf.at(i);
    if (load_le<u32>(p) == kElfNote) tell(load_le<u64>(p + 8), load_le<u64>(p + 32));
  }
  for (u64 at = from; at < to; ++at) {
    if (!told[at - from] && elf.file[at] != 0) return false;
  }
  return true;
}

Loaded load_elf(GuestMemory& memory, std::span<const u8> file) {
  if (file.size() < kElfHeader) bad("an ELF file cut short");
  const u8* h = file.data();
  if (h[4] != 2 || h[5] != 1) bad("not a little-endian ELF64");
  if (load_le<u16>(h + 18) != kElfMachineRiscv) bad("an ELF for another processor");
  const u64 entry = load_le<u64>(h + 24), table = load_le<u64>(h + 32);
  const u16 entry_size = load_le<u16>(h + 54), count = load_le<u16>(h + 56);
  if (count == 0 || count > kMaxProgramHeaders || entry_size != kElfProgramHeader)
    bad("strange ELF program headers");
  if (table > file.size() || u64{count} * kElfProgramHeader > file.size() - table)
    bad("an ELF file cut short");
  const ElfHeaders headers{file, table, count};
  u64 end = 0;
  for (u16 i = 0; i < count; ++i) {
    const u8* p = headers.at(i);
    if (load_le<u32>(p) != kElfLoad) continue;
    const u64 from = load_le<u64>(p + 8), address = load_le<u64>(p + 24);
    const u64 in_file = load_le<u64>(p + 32), in_memory = load_le<u64>(p + 40);
    if (in_memory == 0) continue;
    if (in_file > in_memory || from > file.size() || in_file > file.size() - from)
      bad("a segment beyond the file");
    if (!memory.contains(address, in_memory)) {
      // ld's build id, with the headers, lies at ld's own address wherever the program was put.
      if (load_le<u32>(p + 4) == kElfReadOnly && in_memory == in_file && in_file <= kMaxElfPreamble &&
          is_preamble(headers, from, from + in_file))
        continue;
      bad_segment(address, memory);
    }
    put(memory, address, file.subspan(from, in_file));  // RAM is zero, so the rest of the segment is
    end = std::max(end, address + in_memory);
  }
  if (end == 0) bad("an ELF with nothing to load");
  if (!memory.contains(entry, 2) || entry % 2 != 0) bad("an entry point outside RAM");
  return {entry, end, "elf"};
}

u64 align_down(u64 value, u64 by) {
  return value / by * by;
}

}  // namespace

Loaded load_program(GuestMemory& memory, std::span<const u8> file) {
  if (file.empty()) bad("an empty file");
  if (file.size() >= 4 && std::memcmp(file.data(),
                                      "\x7f"
                                      "ELF",
                                      4) == 0)
    return load_elf(memory, file);
  if (is_image(file)) return load_image(memory, file);
  if (file.size() >= 2 && file[0] == 0x1f && file[1] == 0x8b) bad("a compressed file; unpack it first");
  const u64 base = kRamBase + kProgramOffset;
  put(memory, base, file);
  return {base, base + file.size(), "flat"};
}

u64 load_blobs(GuestMemory& memory, u64 program_end, std::span<const u8> initrd, DeviceTreeInput tree) {
  const u64 top = kRamBase + memory.size();
  const u64 tree_at = align_down(top - layout::kMaxDeviceTree, layout::kBlobAlign);
  u64 lowest = tree_at;
  if (!initrd.empty()) {
    if (initrd.size() > tree_at - kRamBase) throw MonitorError(ErrorKind::kBadInitrd, "larger than RAM");
    lowest = align_down(tree_at - initrd.size(), layout::kBlobAlign);
    tree.initrd_begin = lowest;
    tree.initrd_end = lowest + initrd.size();
  }
  if (lowest < program_end) {
    throw MonitorError(initrd.empty() ? ErrorKind::kBadProgram : ErrorKind::kBadInitrd,
                       "program, initial root and device tree do not fit into RAM together");
  }
  if (!initrd.empty()) write_guest(memory, lowest, initrd.data(), initrd.size());
  const std::vector<u8> blob = build_device_tree(tree);
  if (blob.size() > layout::kMaxDeviceTree) {
    throw MonitorError(ErrorKind::kInvalidConfig, "boot arguments too long for the device tree");
  }
  write_guest(memory, tree_at, blob.data(), blob.size());
  return tree_at;
}

}  // namespace shinken
