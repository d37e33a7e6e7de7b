#include "monitor/devices/virtio_block.h"

#include <doctest/doctest.h>

#include "monitor/base/error.h"
#include "test/support/fake_driver.h"
#include "test/support/temp_dir.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u16 kNext = 1, kWrite = 2;
constexpr u32 kIn = 0, kOut = 1, kFlush = 4, kIdentity = 8;
constexpr u64 kSectors = 16;

struct Bench {
  TempDir dir;
  std::string path;
  FakeDriver driver;
  explicit Bench(bool writable = false)
      : path(dir.write("disk", content())),
        driver(std::make_unique<VirtioBlock>(DiskFile::open(path, "disk-1", writable))) {
    driver.start({0});
  }
  static std::vector<u8> content() {
    std::vector<u8> bytes(kSectors * kSectorBytes + 100);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<u8>(i / kSectorBytes + 1);
    return bytes;
  }
  static u64 data() { return FakeDriver::buffer(1); }
  static u64 status() { return FakeDriver::buffer(40); }
  /// One request of header, data and status; returns the status byte.
  u8 request(u32 type, u64 sector, u32 length) {
    driver.poke<u32>(FakeDriver::buffer(0), type);
    driver.poke<u64>(FakeDriver::buffer(0) + 8, sector);
    driver.poke<u8>(status(), 0xee);
    driver.descriptor(0, 0, FakeDriver::buffer(0), 16, kNext, length == 0 ? 2 : 1);
    driver.descriptor(0, 1, data(), length, static_cast<u16>(kNext | (type == kOut ? 0 : kWrite)), 2);
    driver.descriptor(0, 2, status(), 1, kWrite, 0);
    driver.offer(0, 0);
    driver.kick(0);
    driver.pass(VirtioBlock::kLatencyTicks);
    return driver.peek<u8>(status());
  }
};

}  // namespace

TEST_CASE("sectors are read, one latency after the notification and not before") {
  Bench bench;
  bench.driver.descriptor(0, 0, FakeDriver::buffer(0), 16, kNext, 1);
  bench.driver.descriptor(0, 1, Bench::data(), 1024, kNext | kWrite, 2);
  bench.driver.descriptor(0, 2, Bench::status(), 1, kWrite, 0);
  bench.driver.poke<u64>(FakeDriver::buffer(0) + 8, 3);
  bench.driver.offer(0, 0);
  bench.driver.kick(0);
  bench.driver.pass(VirtioBlock::kLatencyTicks - 1);
  CHECK(bench.driver.used_count(0) == 0);
  bench.driver.pass(1);
  CHECK(bench.driver.used_count(0) == 1);
  CHECK(bench.driver.used_length(0, 0) == 1025);
  CHECK(bench.driver.peek<u8>(Bench::data()) == 4);
  CHECK(bench.driver.peek<u8>(Bench::data() + 1023) == 5);
  CHECK(bench.driver.peek<u8>(Bench::status()) == 0);
  CHECK(bench.driver.irq);
}

TEST_CASE("the capacity is in whole sectors, and a read-only disk says so") {
  Bench bench;
  CHECK(bench.driver.reg(0x100) == kSectors);
  bench.driver.set(0x14, 0);
  CHECK((bench.driver.reg(0x10) & 1u << 5) != 0);
  CHECK(bench.request(kIdentity, 0, 20) == 0);
  CHECK(bench.driver.peek<u8>(Bench::data()) == 'd');
}

TEST_CASE("reads beyond the disk and of broken sectors are errors") {
  Bench bench;
  CHECK(bench.request(kIn, kSectors - 1, 512) == 0);
  CHECK(bench.request(kIn, kSectors, 512) == 1);
  CHECK(bench.request(kIn, kSectors - 1, 1024) == 1);
  CHECK(bench.request(kIn, ~u64{0}, 512) == 1);
  CHECK(bench.request(kIn, ~u64{0} / 512, 1024) == 1);
  CHECK(bench.request(kIn, 0, 100) == 1);
  CHECK(bench.request(77, 0, 512) == 2);
  CHECK(!bench.driver.needs_reset());
}

TEST_CASE("a read-only disk is never written") {
  Bench bench;
  CHECK(bench.request(kOut, 0, 512) == 1);
  CHECK(bench.dir.read("disk") == Bench::content());
}

TEST_CASE("a writable disk keeps what was written") {
  Bench bench(true);
  bench.driver.poke<u32>(Bench::data(), 0x12345678);
  CHECK(bench.request(kOut, 2, 1024) == 0);
  CHECK(bench.request(kFlush, 0, 0) == 0);
  CHECK(load_le<u32>(&bench.dir.read("disk")[2 * kSectorBytes]) == 0x12345678);
  CHECK(bench.request(kOut, kSectors, 512) == 1);
  CHECK(bench.dir.read("disk").size() == Bench::content().size());
}

TEST_CASE("requests without room for header or status end without harm") {
  Bench bench;
  bench.driver.descriptor(0, 0, FakeDriver::buffer(0), 16, 0, 0);
  bench.driver.offer(0, 0);
  bench.driver.descriptor(0, 1, Bench::status(), 1, kWrite, 0);
  bench.driver.offer(0, 1);
  bench.driver.descriptor(0, 2, FakeDriver::buffer(0), 15, kNext, 1);
  bench.driver.offer(0, 2);
  bench.driver.kick(0);
  bench.driver.pass(VirtioBlock::kLatencyTicks);
  CHECK(bench.driver.used_count(0) == 3);
  CHECK(bench.driver.peek<u8>(Bench::status()) == 1);
}

TEST_CASE("all machines of a process share one mapping of a read-only disk") {
  TempDir dir;
  const std::string path = dir.write("disk", std::vector<u8>(4096));
  CHECK(MappedFile::open_shared(path) == MappedFile::open_shared(path));
  CHECK_THROWS_AS(DiskFile::open(dir.file("absent"), "", false), MonitorError);
  CHECK_THROWS_AS(DiskFile::open(path, std::string(65, 'x'), false), MonitorError);
}
