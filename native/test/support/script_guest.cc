#include "test/support/script_guest.h"

#include <cstring>

#include "monitor/base/bytes.h"
#include "monitor/devices/frame.h"
#include "monitor/machine/abi.h"
#include "monitor/machine/layout.h"

namespace shinken::test {
namespace {

// Layout of the binary: code, commands, data.
constexpr u64 kCommandsAt = 0x1000, kDataAt = 0x20000;
enum Op : u64 { kStore, kWait, kSbi, kSpin, kWfi, kJump, kAdd };

// Registers: s0 next command, s1..s4 its fields, s5 first command, t1 scratch.
enum Register : u32 {
  zero = 0,
  t1 = 6,
  s0 = 8,
  s1 = 9,
  a0 = 10,
  a1 = 11,
  a6 = 16,
  a7 = 17,
  s2 = 18,
  s3,
  s4,
  s5
};

u32 itype(u32 op, u32 f3, u32 rd, u32 rs1, u32 imm) {
  return imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
u32 addi(u32 rd, u32 rs1, i32 imm) {
  return itype(0x13, 0, rd, rs1, static_cast<u32>(imm) & 0xfff);
}
u32 load(u32 width, u32 rd, u32 rs1, u32 imm) {
  return itype(0x03, width, rd, rs1, imm);
}
u32 sw(u32 rs2, u32 rs1) {
  return rs2 << 20 | rs1 << 15 | 2 << 12 | 0x23;
}
u32 add_(u32 rd, u32 rs1, u32 rs2) {
  return rs2 << 20 | rs1 << 15 | rd << 7 | 0x33;
}
u32 branch(u32 f3, u32 rs1, u32 rs2, i32 by) {
  const u32 b = static_cast<u32>(by);
  return (b >> 12 & 1) << 31 | (b >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (b >> 1 & 15) << 8 |
         (b >> 11 & 1) << 7 | 0x63;
}
u32 jal(i32 by) {
  const u32 b = static_cast<u32>(by);
  return (b >> 20 & 1) << 31 | (b >> 1 & 0x3ff) << 21 | (b >> 11 & 1) << 20 | (b >> 12 & 0xff) << 12 | 0x6f;
}
constexpr u32 kEcall = 0x73, kWfiWord = 0x10500073;

std::vector<u32> interpreter() {
  std::vector<u32> c;
  const auto here = [&] { return static_cast<i32>(4 * c.size()); };
  c.push_back(1u << 12 | s5 << 7 | 0x17);  // auipc s5, 1: the commands
  c.push_back(addi(s0, s5, 0));
  c.push_back(addi(t1, zero, 0x222));            // software, timer and external interrupts wake a WFI
  c.push_back(itype(0x73, 1, zero, t1, 0x104));  // csrw sie, t1
  const i32 loop = here();
  for (u32 i = 0; i < 4; ++i) c.push_back(load(3, s1 + (i == 0 ? 0 : s2 - s1 + i - 1), s0, 8 * i));
  c.push_back(addi(s0, s0, 32));
  const i32 dispatch = here();
  constexpr u32 kOps = 7;
  c.resize(c.size() + 2 * kOps + 1);  // two words an op, and a stop for what is unknown
  i32 target[kOps];
  const auto back = [&] { c.push_back(jal(loop - here())); };
  target[kStore] = here();
  c.push_back(sw(s3, s2)), back();
  target[kWait] = here();
  c.push_back(load(5, t1, s2, 0));  // lhu
  c.push_back(branch(0, t1, s3, loop - here()));
  c.push_back(kWfiWord);
  c.push_back(jal(target[kWait] - here()));
  target[kSbi] = here();
  c.push_back(addi(a7, s2, 0)), c.push_back(addi(a6, zero, 0));
  c.push_back(addi(a0, s3, 0)), c.push_back(addi(a1, s4, 0)), c.push_back(kEcall), back();
  target[kSpin] = here();
  c.push_back(addi(s2, s2, -1)), c.push_back(branch(1, s2, zero, -4)), back();
  target[kWfi] = here();
  c.push_back(kWfiWord), back();
  target[kJump] = here();
  c.push_back(add_(s0, s5, s2)), back();
  target[kAdd] = here();
  c.push_back(load(2, t1, s2, 0)), c.push_back(add_(t1, t1, s3)), c.push_back(sw(t1, s2)), back();
  for (u32 op = 0; op < kOps; ++op) {
    const i32 at = dispatch + 8 * static_cast<i32>(op);
    c[static_cast<u32>(at) / 4] = addi(t1, zero, static_cast<i32>(op));
    c[static_cast<u32>(at) / 4 + 1] = branch(0, t1, s1, target[op] - (at + 4));
  }
  c[static_cast<u32>(dispatch) / 4 + 2 * kOps] = jal(0);
  return c;
}

constexpr u64 kMmio = layout::kVirtio;
constexpr u64 kAgentReceive = 0x1000, kAgentTransmit = 0x2000, kGraderTransmit = 0x3000,
              kControlTransmit = 0x4000;
constexpr u64 kControlMessage = 0x4800, kReceiveBuffer = 0x8000;
// Within a queue: descriptors at 0, available ring at 0x100, used ring at 0x200.
constexpr u64 kAvailable = 0x100, kUsed = 0x200;

}  // namespace

u64 ScriptGuest::data(u64 offset) {
  return kRamBase + kProgramOffset + kDataAt + offset;
}

ScriptGuest& ScriptGuest::add(u64 op, u64 a, u64 b, u64 c) {
  commands_.push_back({op, a, b, c});
  return *this;
}

ScriptGuest& ScriptGuest::store32(u64 address, u32 value) {
  return add(kStore, address, value, 0);
}
ScriptGuest& ScriptGuest::wait16(u64 address, u16 value) {
  return add(kWait, address, value, 0);
}
ScriptGuest& ScriptGuest::sbi(u64 extension, u64 x, u64 y) {
  return add(kSbi, extension, x, y);
}
ScriptGuest& ScriptGuest::spin(u64 rounds) {
  return add(kSpin, rounds, 0, 0);
}
ScriptGuest& ScriptGuest::wfi() {
  return add(kWfi, 0, 0, 0);
}
ScriptGuest& ScriptGuest::jump(std::size_t command) {
  return add(kJump, command * 32, 0, 0);
}
ScriptGuest& ScriptGuest::add32(u64 address, u32 value) {
  return add(kAdd, address, value, 0);
}

ScriptGuest& ScriptGuest::put(u64 offset, const std::vector<u8>& bytes) {
  data_[offset] = bytes;
  return *this;
}

ScriptGuest& ScriptGuest::put_descriptor(u64 offset, u64 address, u32 length, u16 flags, u16 next_index) {
  ByteWriter out;
  out.put<u64>(address);
  out.put<u32>(length);
  out.put<u16>(flags);
  out.put<u16>(next_index);
  return put(offset, out.take());
}

ScriptGuest& ScriptGuest::queue(unsigned index, u64 at) {
  store32(kMmio + 0x30, index).store32(kMmio + 0x38, 8);
  store32(kMmio + 0x80, static_cast<u32>(data(at)));
  store32(kMmio + 0x90, static_cast<u32>(data(at + kAvailable)));
  store32(kMmio + 0xa0, static_cast<u32>(data(at + kUsed)));
  return store32(kMmio + 0x44, 1);
}

ScriptGuest& ScriptGuest::open_agent_port() {
  store32(layout::kPlic + 4 * layout::kVirtioIrq, 1);
  store32(layout::kPlic + 0x2000, 1u << layout::kVirtioIrq);
  store32(kMmio + 0x70, 3);
  store32(kMmio + 0x24, 1).store32(kMmio + 0x20, 1);  // VIRTIO_F_VERSION_1
  store32(kMmio + 0x24, 0).store32(kMmio + 0x20, 2);  // VIRTIO_CONSOLE_F_MULTIPORT
  store32(kMmio + 0x70, 11);
  queue(3, kControlTransmit).queue(4, kAgentReceive).queue(5, kAgentTransmit).queue(7, kGraderTransmit);
  store32(kMmio + 0x70, 15);
  ByteWriter open;
  open.put<u32>(1);
  open.put<u16>(6);  // PORT_OPEN
  open.put<u16>(1);
  put(kControlMessage, open.take());
  put_descriptor(kControlTransmit, data(kControlMessage), 8, 0, 0);
  store32(data(kControlTransmit + kAvailable), 1u << 16);
  store32(kMmio + 0x50, 3);
  return store32(kMmio + 0x64, 3);
}

ScriptGuest& ScriptGuest::echo(u32 payload, u16 times) {
  const u32 length = 16 + payload;
  put_descriptor(kAgentReceive, data(kReceiveBuffer), length, 2, 0);
  put_descriptor(kAgentTransmit, data(kReceiveBuffer), length, 0, 0);
  for (u16 i = 0; i < times; ++i) {
    ++received_, ++sent_;
    store32(data(kAgentReceive + kAvailable), u32{received_} << 16).store32(kMmio + 0x50, 4);
    wait16(data(kAgentReceive + kUsed + 2), received_).store32(kMmio + 0x64, 3);
    store32(data(kAgentTransmit + kAvailable), u32{sent_} << 16).store32(kMmio + 0x50, 5);
    store32(kMmio + 0x64, 3);
  }
  return *this;
}

ScriptGuest& ScriptGuest::transmit(u64 offset, u32 length) {
  ++sent_;
  // The descriptor is written by the guest itself, so that several transmissions can follow one another.
  store32(data(kAgentTransmit), static_cast<u32>(data(offset))).store32(data(kAgentTransmit + 4), 0);
  store32(data(kAgentTransmit + 8), length).store32(data(kAgentTransmit + 12), 0);
  store32(data(kAgentTransmit + kAvailable), u32{sent_} << 16).store32(kMmio + 0x50, 5);
  return store32(kMmio + 0x64, 3);
}

std::vector<u8> ScriptGuest::binary() const {
  std::vector<u8> out(kDataAt);
  const std::vector<u32> code = interpreter();
  for (std::size_t i = 0; i < code.size(); ++i) store_le(&out[4 * i], code[i]);
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    u8* at = &out.at(kCommandsAt + 32 * i);
    store_le(at, commands_[i].op);
    store_le(at + 8, commands_[i].a);
    store_le(at + 16, commands_[i].b);
    store_le(at + 24, commands_[i].c);
  }
  for (const auto& [offset, bytes] : data_) {
    if (out.size() < kDataAt + offset + bytes.size()) out.resize(kDataAt + offset + bytes.size());
    std::memcpy(&out[kDataAt + offset], bytes.data(), bytes.size());
  }
  return out;
}

std::vector<u8> frame(u32 stream, u8 kind, u8 flags, const std::vector<u8>& payload) {
  std::vector<u8> out(kFrameHeaderBytes);
  encode_frame_header({static_cast<u32>(payload.size()), stream, kind, flags, 0, 0}, out.data());
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

}  // namespace shinken::test
