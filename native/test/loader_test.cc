#include "monitor/machine/loader.h"

#include <doctest/doctest.h>

#include "monitor/base/bytes.h"
#include "monitor/base/error.h"
#include "monitor/machine/abi.h"
#include "monitor/machine/layout.h"
#include "monitor/memory/segments.h"
#include "monitor/memory/soft_memory.h"
#include "test/support/fdt_reader.h"

using namespace shinken;
using namespace shinken::test;

namespace {

SoftMemory ram(u64 mib = 64) {
  return SoftMemory(std::make_shared<PagePool>(), mib << 20 >> kPageShift);
}

template <typename T>
void put(std::vector<u8>& file, std::size_t at, T value) {
  if (file.size() < at + sizeof value) file.resize(at + sizeof value);
  store_le(&file[at], value);
}

/// An ELF with one segment: 4 bytes of file, 16 of memory.
std::vector<u8> elf() {
  std::vector<u8> file = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  put<u16>(file, 18, 243);
  put<u64>(file, 24, kRamBase + 0x1002);  // entry
  put<u64>(file, 32, 64);                 // program headers
  put<u16>(file, 54, 56);
  put<u16>(file, 56, 1);
  put<u32>(file, 64, 1);
  put<u64>(file, 72, 120);         // offset
  put<u64>(file, 80, 0xffff0000);  // virtual address, of no interest
  put<u64>(file, 88, kRamBase + 0x1000);
  put<u64>(file, 96, 4);
  put<u64>(file, 104, 16);
  put<u32>(file, 120, 0xfeedbeef);
  return file;
}

std::vector<u8> image(u64 offset, u64 size) {
  std::vector<u8> file(64);
  put<u64>(file, 8, offset);
  put<u64>(file, 16, size);
  put<u64>(file, 48, 0x5643534952);
  put<u32>(file, 56, 0x05435352);
  return file;
}

ErrorKind refusal(std::vector<u8> file) {
  SoftMemory memory = ram();
  try {
    load_program(memory, file);
  } catch (const MonitorError& error) {
    return error.kind();
  }
  return ErrorKind::kClosed;
}

}  // namespace

TEST_CASE("an ELF is placed by its physical addresses") {
  SoftMemory memory = ram();
  const Loaded loaded = load_program(memory, elf());
  CHECK(std::string(loaded.kind) == "elf");
  CHECK(loaded.entry == kRamBase + 0x1002);
  CHECK(loaded.end == kRamBase + 0x1010);
  u32 word = 0;
  read_guest(memory, kRamBase + 0x1000, &word, 4);
  CHECK(word == 0xfeedbeef);
}

TEST_CASE("an Image goes to its text offset and keeps room for its whole size") {
  SoftMemory memory = ram();
  const Loaded loaded = load_program(memory, image(0x200000, 5 << 20));
  CHECK(std::string(loaded.kind) == "image");
  CHECK(loaded.entry == kRamBase + 0x200000);
  CHECK(loaded.end == kRamBase + 0x200000 + (5 << 20));
}

TEST_CASE("anything else is a flat binary") {
  SoftMemory memory = ram();
  const Loaded loaded = load_program(memory, std::vector<u8>{0x13, 0, 0, 0});
  CHECK(std::string(loaded.kind) == "flat");
  CHECK(loaded.entry == kRamBase + kProgramOffset);
}

TEST_CASE("programs that lie about themselves are refused") {
  const auto with = [](auto change) {
    std::vector<u8> file = elf();
    change(file);
    return refusal(file);
  };
  CHECK(refusal(elf()) == ErrorKind::kClosed);
  CHECK(refusal({}) == ErrorKind::kBadProgram);
  CHECK(refusal({0x1f, 0x8b, 8, 0}) == ErrorKind::kBadProgram);
  CHECK(refusal({0x7f, 'E', 'L', 'F'}) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { f[4] = 1; }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u16>(f, 18, 62); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u64>(f, 24, 0x1000); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u64>(f, 32, ~u64{0} - 8); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u16>(f, 56, 0xffff); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u64>(f, 72, ~u64{0} - 1); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u64>(f, 88, kRamBase - 1); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u64>(f, 88, ~u64{0} - 3); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u64>(f, 96, 17); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u64>(f, 104, ~u64{0}); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u32>(f, 64, 2); }) == ErrorKind::kBadProgram);
  CHECK(refusal(image(0x200001, 0)) == ErrorKind::kBadProgram);
  CHECK(refusal(image(~u64{0} - 4095, 0)) == ErrorKind::kBadProgram);
  CHECK(refusal(image(0x200000, 64 << 20)) == ErrorKind::kBadProgram);
  CHECK(refusal(std::vector<u8>(63 << 20)) == ErrorKind::kBadProgram);
}

namespace {

/// As ld lays out a program at an address of its own with the build id that it adds: the headers and the note
/// in a read-only segment at ld's usual address, outside RAM, the program in the second, and the note once
/// more as a note.
std::vector<u8> with_build_id() {
  std::vector<u8> file = elf();
  put<u16>(file, 56, 3);
  const auto segment = [&](std::size_t at, u32 type, u32 flags, u64 from, u64 address, u64 size) {
    put<u32>(file, at, type);
    put<u32>(file, at + 4, flags);
    put<u64>(file, at + 8, from);
    put<u64>(file, at + 16, address);
    put<u64>(file, at + 24, address);
    put<u64>(file, at + 32, size);
    put<u64>(file, at + 40, size);
  };
  segment(64, 1, 4, 0, 0x10000, 0x124);
  segment(120, 1, 5, 0x124, kRamBase + 0x1000, 4);
  segment(176, 4, 4, 0x100, 0x10100, 0x24);
  for (std::size_t at = 0x100; at < 0x124; ++at) put<u8>(file, at, 0xbd);
  put<u32>(file, 0x124, 0xfeedbeef);
  return file;
}

}  // namespace

TEST_CASE("an ELF's headers and notes outside RAM are not loaded, and the program runs without them") {
  SoftMemory memory = ram();
  const Loaded loaded = load_program(memory, with_build_id());
  CHECK(loaded.entry == kRamBase + 0x1002);
  CHECK(loaded.end == kRamBase + 0x1004);
  u32 word = 0;
  read_guest(memory, kRamBase + 0x1000, &word, 4);
  CHECK(word == 0xfeedbeef);
}

TEST_CASE("a segment outside RAM that holds more than headers and notes is refused") {
  const auto with = [](auto change) {
    std::vector<u8> file = with_build_id();
    change(file);
    return refusal(file);
  };
  CHECK(with([](auto&) {}) == ErrorKind::kClosed);
  // Code, or data that may be written.
  CHECK(with([](auto& f) { put<u32>(f, 68, 5); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u32>(f, 68, 6); }) == ErrorKind::kBadProgram);
  // A byte of data between the headers and the note.
  CHECK(with([](auto& f) { put<u8>(f, 0xf0, 1); }) == ErrorKind::kBadProgram);
  // The note is none.
  CHECK(with([](auto& f) { put<u32>(f, 176, 0x70000003); }) == ErrorKind::kBadProgram);
  // It ends before the segment does.
  CHECK(with([](auto& f) { put<u64>(f, 208, 0x20); }) == ErrorKind::kBadProgram);
  // Room beyond the file's bytes, and more than a page.
  CHECK(with([](auto& f) { put<u64>(f, 104, 0x125); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) {
          put<u64>(f, 96, 0x1001), put<u64>(f, 104, 0x1001), put<u64>(f, 208, 0x1001);
          f.resize(0x2000);
        }) == ErrorKind::kBadProgram);
  // A note that lies about where it is covers nothing, or what there is of it.
  CHECK(with([](auto& f) { put<u64>(f, 184, ~u64{0} - 8); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u64>(f, 208, ~u64{0}); }) == ErrorKind::kClosed);
  // Nothing else to load, and an entry point in what is not.
  CHECK(with([](auto& f) { put<u32>(f, 120, 0); }) == ErrorKind::kBadProgram);
  CHECK(with([](auto& f) { put<u64>(f, 24, 0x10100); }) == ErrorKind::kBadProgram);
}

TEST_CASE("a segment outside RAM is named with its address and with what to do") {
  std::vector<u8> file = elf();
  put<u64>(file, 88, 0x10158);
  SoftMemory memory = ram();
  std::string message;
  try {
    load_program(memory, file);
  } catch (const MonitorError& error) {
    message = error.what();
  }
  CHECK(message.find("0x10158") != std::string::npos);
  CHECK(message.find("link the program there") != std::string::npos);
}

TEST_CASE("initial root and device tree lie at the end of RAM, and the tree says where") {
  SoftMemory memory = ram();
  DeviceTreeInput input;
  input.memory_bytes = memory.size();
  input.bootargs = "console=ttyS0 x=1";
  input.virtio_devices = 3;
  input.rng_seed[0] = 1;
  const std::vector<u8> initrd(3'000'001, 7);
  const u64 at = load_blobs(memory, kRamBase + (10 << 20), initrd, input);
  std::vector<u8> blob(layout::kMaxDeviceTree);
  REQUIRE(read_guest(memory, at, blob.data(), blob.size()));
  const FdtReader tree(blob);
  REQUIRE(tree.ok());
  CHECK(tree.text("/chosen", "bootargs") == "console=ttyS0 x=1");
  const u64 begin = tree.wide("/chosen", "linux,initrd-start"),
            end = tree.wide("/chosen", "linux,initrd-end");
  CHECK(end - begin == initrd.size());
  CHECK(end <= at);
  u8 last = 0;
  read_guest(memory, end - 1, &last, 1);
  CHECK(last == 7);
  CHECK(tree.wide("/memory@80000000", "reg", 0) == kRamBase);
  CHECK(tree.wide("/memory@80000000", "reg", 1) == memory.size());
  CHECK(tree.cell("/cpus", "timebase-frequency") == kTicksPerSecond);
  CHECK(tree.text("/cpus/cpu@0", "mmu-type") == "riscv,sv39");
  CHECK(tree.has("/chosen", "rng-seed"));
  CHECK(tree.text("/soc/rng@10100000", "compatible") == "microsoft,vmgenid");
  CHECK(tree.cell("/soc/virtio_mmio@10003000", "interrupts") == 3);
  CHECK(!tree.has("/soc/virtio_mmio@10004000", "reg"));
  CHECK(tree.text("/soc/virtio_mmio@10008000", "compatible") == "virtio,mmio");
  CHECK(tree.cell("/soc/virtio_mmio@10008000", "interrupts") == 8);
  CHECK(tree.text("/soc/serial@10000000", "compatible") == "ns16550a");
}

TEST_CASE("what does not fit together is refused") {
  SoftMemory memory = ram();
  DeviceTreeInput input;
  const auto kind_of = [&](u64 program_end, u64 initrd) {
    try {
      load_blobs(memory, program_end, std::vector<u8>(initrd), input);
    } catch (const MonitorError& error) {
      return error.kind();
    }
    return ErrorKind::kClosed;
  };
  CHECK(kind_of(kRamBase + (63 << 20), 0) == ErrorKind::kBadProgram);
  CHECK(kind_of(kRamBase + (40 << 20), 30 << 20) == ErrorKind::kBadInitrd);
  CHECK(kind_of(kRamBase, 65 << 20) == ErrorKind::kBadInitrd);
  input.bootargs = std::string(70'000, 'x');
  CHECK(kind_of(kRamBase, 0) == ErrorKind::kInvalidConfig);
}

TEST_CASE("a tree without initial root and seed mentions neither") {
  DeviceTreeInput input;
  input.memory_bytes = 64 << 20;
  const FdtReader tree(build_device_tree(input));
  REQUIRE(tree.ok());
  CHECK(!tree.has("/chosen", "linux,initrd-start"));
  CHECK(!tree.has("/chosen", "rng-seed"));
}
