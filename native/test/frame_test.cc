#include "monitor/devices/frame.h"

#include <doctest/doctest.h>

#include <random>

#include "test/support/script_guest.h"

using namespace shinken;
using shinken::test::frame;

namespace {

struct Got {
  FrameParser parser;
  std::vector<std::vector<u8>> payloads;
  std::vector<u32> streams;
  bool push(std::span<const u8> bytes) {
    return parser.push(bytes, [&](const FrameHeader& header, std::span<const u8> payload) {
      CHECK(payload.size() == header.length);
      streams.push_back(header.stream);
      payloads.emplace_back(payload.begin(), payload.end());
    });
  }
};

}  // namespace

TEST_CASE("a header survives encoding") {
  u8 bytes[kFrameHeaderBytes];
  encode_frame_header({1, 2, 3, 4, 5, 6}, bytes);
  const FrameHeader header = decode_frame_header(bytes);
  CHECK(header.length == 1);
  CHECK(header.stream == 2);
  CHECK(header.kind == 3);
  CHECK(header.flags == 4);
  CHECK(header.op == 5);
  CHECK(header.credit == 6);
}

TEST_CASE("frames come out the same however the bytes are cut") {
  std::vector<u8> bytes;
  std::vector<std::vector<u8>> expected;
  std::mt19937 random(1);
  for (u32 i = 0; i < 40; ++i) {
    const std::vector<u8> payload(i % 7 == 0 ? 0 : random() % 5000, static_cast<u8>(i));
    expected.push_back(payload);
    const std::vector<u8> one = frame(i, static_cast<u8>(1 + i % 5), 0, payload);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  for (u32 largest : {1u, 2u, 15u, 16u, 17u, 4096u, 1'000'000u}) {
    CAPTURE(largest);
    Got got;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t n = std::min<std::size_t>(1 + random() % largest, bytes.size() - at);
      REQUIRE(got.push(std::span(bytes).subspan(at, n)));
      at += n;
    }
    CHECK(got.payloads == expected);
  }
}

TEST_CASE("the largest payload passes and one byte more kills the stream") {
  Got got;
  CHECK(got.push(frame(1, 1, 0, std::vector<u8>(kMaxFramePayload))));
  CHECK(!got.push(frame(1, 1, 0, std::vector<u8>(kMaxFramePayload + 1))));
  CHECK(got.parser.dead());
  CHECK(got.parser.fault() == "a frame of 65537 bytes");
  CHECK(!got.push(frame(1, 1, 0, {})));
  CHECK(got.payloads.size() == 1);
}

TEST_CASE("unknown kinds kill the stream, after what came before") {
  for (u8 kind : {0, 6, 255}) {
    Got got;
    std::vector<u8> bytes = frame(4, 2, 0, {1});
    const std::vector<u8> wrong = frame(5, kind, 0, {});
    bytes.insert(bytes.end(), wrong.begin(), wrong.end());
    CHECK(!got.push(bytes));
    CHECK(got.streams == std::vector<u32>{4});
  }
}

TEST_CASE("half a frame is state and comes back") {
  const std::vector<u8> bytes = frame(8, 2, 0, std::vector<u8>(100, 9));
  for (std::size_t cut : {std::size_t{1}, std::size_t{16}, std::size_t{17}, bytes.size() - 1}) {
    Got first, second;
    first.push(std::span(bytes).first(cut));
    ByteWriter saved;
    first.parser.save(saved);
    const std::vector<u8> state = saved.take();
    ByteReader from(state);
    second.parser.load(from);
    CHECK(from.ok());
    second.push(std::span(bytes).subspan(cut));
    CHECK(second.streams == std::vector<u32>{8});
  }
  ByteWriter wrong;
  wrong.put<u8>(0);
  wrong.put_string(bytes);
  const std::vector<u8> state = wrong.take();
  ByteReader from(state);
  FrameParser parser;
  parser.load(from);
  CHECK(!from.ok());
}
