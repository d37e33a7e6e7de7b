#pragma once
// A guest for tests that needs no compiler: a loop of forty hand-assembled instructions that plays a table of
// commands. Its rings and buffers are laid out by the host as data of the same flat binary.
#include <map>
#include <vector>

#include "monitor/base/types.h"

namespace shinken::test {

class ScriptGuest {
 public:
  /// Physical address of a place in the program's data; data starts at 0.
  static u64 data(u64 offset);

  ScriptGuest& store32(u64 address, u32 value);
  /// Waits in WFI until the 16-bit value in memory is this.
  ScriptGuest& wait16(u64 address, u16 value);
  ScriptGuest& sbi(u64 extension, u64 a0, u64 a1);
  /// 2 * `rounds` instructions.
  ScriptGuest& spin(u64 rounds);
  ScriptGuest& wfi();
  /// Goes on with the command of this number (negative: counted from the next one).
  ScriptGuest& jump(std::size_t command);
  std::size_t next() const { return commands_.size(); }
  /// 32-bit add in memory.
  ScriptGuest& add32(u64 address, u32 value);

  // What guests do often.
  ScriptGuest& print(char c) { return sbi(1, static_cast<u8>(c), 0); }
  ScriptGuest& shut_down(u32 reason = 0) { return sbi(0x53525354, 0, reason); }
  ScriptGuest& timer(u64 ticks) { return sbi(0x54494d45, ticks, 0); }

  /// Initial bytes at a data offset.
  ScriptGuest& put(u64 offset, const std::vector<u8>& bytes);
  ScriptGuest& put_descriptor(u64 offset, u64 address, u32 length, u16 flags, u16 next_index);

  /// Sets up the virtio console: agent port open, queues 4 and 5 (agent) at data offset 0x1000 and 0x2000,
  /// grader queue 7 at 0x3000. Every queue has one descriptor of its own, so ring entries of zeros name it.
  ScriptGuest& open_agent_port();
  /// Receives frames of exactly 16 + `payload` bytes and sends each back, `times` times.
  ScriptGuest& echo(u32 payload, u16 times);
  /// Sends the bytes at a data offset as one write; call after open_agent_port.
  ScriptGuest& transmit(u64 offset, u32 length);

  /// The flat binary.
  std::vector<u8> binary() const;

 private:
  struct Command {
    u64 op, a, b, c;
  };
  ScriptGuest& add(u64 op, u64 a, u64 b, u64 c);
  ScriptGuest& queue(unsigned index, u64 at);
  std::vector<Command> commands_;
  std::map<u64, std::vector<u8>> data_;
  u16 sent_ = 0, received_ = 0;
};

/// A frame with its header.
std::vector<u8> frame(u32 stream, u8 kind, u8 flags, const std::vector<u8>& payload);

}  // namespace shinken::test
