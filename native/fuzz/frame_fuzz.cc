// Bytes of a guest as frames: whole and in pieces they must mean the same.
// Input: one byte for the size of the pieces, then the stream.
#include <algorithm>

#include "monitor/devices/frame.h"

using namespace shinken;

namespace {

struct Seen {
  FrameParser parser;
  std::vector<u8> frames;
  void push(std::span<const u8> bytes) {
    parser.push(bytes, [&](const FrameHeader& header, std::span<const u8> payload) {
      if (payload.size() != header.length || header.length > kMaxFramePayload) __builtin_trap();
      u8 raw[kFrameHeaderBytes];
      encode_frame_header(header, raw);
      frames.insert(frames.end(), raw, raw + sizeof raw);
      frames.insert(frames.end(), payload.begin(), payload.end());
    });
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = data[0] + std::size_t{1};
  const std::span<const u8> bytes(data + 1, size - 1);
  Seen whole, cut;
  whole.push(bytes);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    cut.push(bytes.subspan(at, std::min(piece, bytes.size() - at)));
    ByteWriter saved;
    cut.parser.save(saved);
    const std::vector<u8> state = saved.take();
    ByteReader from(state);
    cut.parser.load(from);
    if (!from.ok()) __builtin_trap();
  }
  if (whole.parser.dead() != cut.parser.dead() || whole.frames != cut.frames) __builtin_trap();
  if (!whole.parser.dead() && !std::equal(whole.frames.begin(), whole.frames.end(), bytes.begin()))
    __builtin_trap();
  return 0;
}
