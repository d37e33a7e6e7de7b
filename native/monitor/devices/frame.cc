#include "monitor/devices/frame.h"

#include <algorithm>

namespace shinken {
namespace {
constexpr u8 kLastKind = 5;
}

FrameHeader decode_frame_header(const u8* bytes) {
  return {load_le<u32>(bytes),      load_le<u32>(bytes + 4), bytes[8], bytes[9],
          load_le<u16>(bytes + 10), load_le<u32>(bytes + 12)};
}

void encode_frame_header(const FrameHeader& header, u8* bytes) {
  store_le(bytes, header.length);
  store_le(bytes + 4, header.stream);
  bytes[8] = header.kind;
  bytes[9] = header.flags;
  store_le(bytes + 10, header.op);
  store_le(bytes + 12, header.credit);
}

bool FrameParser::check(const FrameHeader& header) {
  if (header.length > kMaxFramePayload) {
    fault_ = "a frame of " + std::to_string(header.length) + " bytes";
  } else if (header.kind == 0 || header.kind > kLastKind) {
    fault_ = "a frame of kind " + std::to_string(header.kind);
  } else {
    return true;
  }
  reset();
  dead_ = true;
  return false;
}

bool FrameParser::push(std::span<const u8> bytes, const Sink& sink) {
  while (!dead_) {
    // A frame that lies whole in `bytes` is handed out from there; only its pieces are gathered.
    const bool direct = pending_.empty();
    const std::size_t have = direct ? bytes.size() : pending_.size();
    if (have < kFrameHeaderBytes) {
      const std::size_t take = direct ? bytes.size() : std::min(bytes.size(), kFrameHeaderBytes - have);
      pending_.insert(pending_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(take));
      bytes = bytes.subspan(take);
      if (pending_.size() < kFrameHeaderBytes) return true;
      continue;
    }
    const FrameHeader header = decode_frame_header(direct ? bytes.data() : pending_.data());
    if (!check(header)) return false;
    const std::size_t whole = kFrameHeaderBytes + header.length;
    if (direct && have >= whole) {
      sink(header, bytes.subspan(kFrameHeaderBytes, header.length));
      bytes = bytes.subspan(whole);
      continue;
    }
    const std::size_t take = std::min(bytes.size(), whole - pending_.size());
    pending_.insert(pending_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(take));
    bytes = bytes.subspan(take);
    if (pending_.size() < whole) return true;
    const std::vector<u8> frame = std::move(pending_);
    pending_.clear();
    sink(header, std::span(frame).subspan(kFrameHeaderBytes));
  }
  return false;
}

void FrameParser::reset() {
  pending_.clear();
  dead_ = false;
}

void FrameParser::save(ByteWriter& to) const {
  to.put<u8>(dead_);
  to.put_string(pending_);
}

void FrameParser::load(ByteReader& from) {
  dead_ = from.get<u8>() != 0;
  pending_ = from.get_string(kFrameHeaderBytes + kMaxFramePayload);
  fault_.clear();
  if (pending_.size() < kFrameHeaderBytes) return;
  const FrameHeader header = decode_frame_header(pending_.data());
  if (header.length > kMaxFramePayload || pending_.size() >= kFrameHeaderBytes + header.length) from.fail();
}

}  // namespace shinken
