#include "monitor/net/switch.h"

#include <doctest/doctest.h>

using namespace shinken;

namespace {

const MacAddress kA{2, 0, 0, 0, 0, 1}, kB{2, 0, 0, 0, 0, 2}, kC{2, 0, 0, 0, 0, 3};
const MacAddress kAll{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

std::vector<u8> frame(const MacAddress& to, const MacAddress& from, u8 tag = 0) {
  std::vector<u8> bytes(to.begin(), to.end());
  bytes.insert(bytes.end(), from.begin(), from.end());
  bytes.resize(60);
  bytes[14] = tag;
  return bytes;
}

struct Arrival {
  unsigned port;
  u64 moment;
  u8 tag;
  bool operator==(const Arrival&) const = default;
};

std::vector<Arrival> drain(EthernetSwitch& net) {
  std::vector<Arrival> arrivals;
  net.drain([&](unsigned port, u64 moment, std::span<const u8> bytes) {
    arrivals.push_back({port, moment, bytes[14]});
  });
  return arrivals;
}

}  // namespace

TEST_CASE("what goes to all reaches every port but its own") {
  EthernetSwitch net(3);
  CHECK(net.take(1, 10, frame(kAll, kB)));
  CHECK(drain(net) == std::vector<Arrival>{{0, 10, 0}, {2, 10, 0}});
  CHECK(drain(net).empty());
}

TEST_CASE("an address that was seen is reached at its port alone, and moves with its station") {
  EthernetSwitch net(3);
  net.take(0, 1, frame(kB, kA));
  CHECK(drain(net).size() == 2);
  net.take(1, 2, frame(kA, kB));
  CHECK(drain(net) == std::vector<Arrival>{{0, 2, 0}});
  net.take(2, 3, frame(kAll, kA));
  drain(net);
  net.take(1, 4, frame(kA, kB));
  CHECK(drain(net) == std::vector<Arrival>{{2, 4, 0}});
}

TEST_CASE("a frame to its own port goes nowhere") {
  EthernetSwitch net(2);
  net.take(0, 1, frame(kAll, kA));
  drain(net);
  net.take(0, 2, frame(kA, kC));
  CHECK(drain(net).empty());
}

TEST_CASE("frames leave by moment, then port, then the order in which they came") {
  EthernetSwitch net(2);
  net.take(1, 5, frame(kAll, kB, 1));
  net.take(1, 5, frame(kAll, kB, 2));
  net.take(0, 5, frame(kAll, kA, 3));
  net.take(1, 4, frame(kAll, kB, 4));
  CHECK(drain(net) == std::vector<Arrival>{{0, 4, 4}, {1, 5, 3}, {0, 5, 1}, {0, 5, 2}});
}

TEST_CASE("group addresses are no stations, and the table is bounded") {
  EthernetSwitch net(2);
  net.take(0, 1, frame(kAll, {3, 0, 0, 0, 0, 1}));
  drain(net);
  CHECK(net.addresses() == 0);
  for (u32 i = 0; i < EthernetSwitch::kMaxAddresses + 10; ++i) {
    net.take(0, i, frame(kAll, {2, 1, 0, 0, static_cast<u8>(i >> 8), static_cast<u8>(i)}));
    drain(net);
  }
  CHECK(net.addresses() == EthernetSwitch::kMaxAddresses);
}

TEST_CASE("it holds so many frames, and refuses what is no frame or comes from nowhere") {
  EthernetSwitch net(2);
  CHECK(!net.take(2, 0, frame(kAll, kA)));
  CHECK(!net.take(0, 0, std::vector<u8>(VirtioNet::kMinFrameBytes - 1)));
  for (std::size_t i = 0; i < EthernetSwitch::kMaxHeld; ++i) CHECK(net.take(0, i, frame(kAll, kA)));
  CHECK(!net.take(0, 0, frame(kAll, kA)));
  CHECK(drain(net).size() == EthernetSwitch::kMaxHeld);
  CHECK(net.take(0, 0, frame(kAll, kA)));
}
