#pragma once
// Frames of the agent's wire, as far as the monitor looks: header, borders, end of a stream.
// The whole protocol: docs/agent-protocol.md.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "monitor/base/bytes.h"
#include "monitor/base/types.h"

namespace shinken {

inline constexpr u32 kMaxFramePayload = 64 * 1024;
inline constexpr u32 kFrameHeaderBytes = 16;
inline constexpr u8 kFrameFinal = 1;  // flags bit 0: the last frame of its stream from this side

/// Little-endian on the wire, in this order.
struct FrameHeader {
  u32 length;  // payload bytes, at most kMaxFramePayload
  u32 stream;
  u8 kind;  // 1 request, 2 reply, 3 data, 4 event, 5 control
  u8 flags;
  u16 op;
  u32 credit;
};

/// SAFETY: kFrameHeaderBytes at `bytes` are the caller's duty.
FrameHeader decode_frame_header(const u8* bytes);
void encode_frame_header(const FrameHeader& header, u8* bytes);

/// Cuts a byte stream into frames. After a malformed header it is dead: the stream has no more borders.
class FrameParser {
 public:
  using Sink = std::function<void(const FrameHeader&, std::span<const u8> payload)>;

  /// Consumes all of `bytes`, calling `sink` for each frame that ends in them. False once dead.
  bool push(std::span<const u8> bytes, const Sink& sink);
  bool dead() const { return dead_; }
  /// Why it is dead, for people.
  const std::string& fault() const { return fault_; }
  void reset();
  void save(ByteWriter& to) const;
  void load(ByteReader& from);

 private:
  bool check(const FrameHeader& header);
  std::vector<u8> pending_;  // start of the frame that is not whole yet; at most one frame long
  bool dead_ = false;
  std::string fault_;
};

}  // namespace shinken
