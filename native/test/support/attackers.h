#pragma once
// Guests that mean harm. Each goes on for ever.
#include "monitor/machine/layout.h"
#include "test/support/assembler.h"
#include "test/support/machines.h"

namespace shinken::test {

struct Attacker {
  const char* what;
  std::vector<u8> binary;
};

inline std::vector<u8> bytes_of(const std::vector<u32>& code) {
  std::vector<u8> out(4 * code.size());
  for (std::size_t i = 0; i < code.size(); ++i) store_le(&out[4 * i], code[i]);
  return out;
}

/// Does `visit` with each page of RAM in x5, over and over; x8 holds `value`.
inline std::vector<u8> over_all_pages(u32 value, const std::vector<u32>& visit) {
  const i32 back = -4 * static_cast<i32>(visit.size() + 1);
  std::vector<u32> code = {as::auipc(5, 1),
                           as::lui(6, 1),
                           as::auipc(7, 0),
                           as::addi(7, 7, 32 - back),
                           as::csrrw(0, kCsrStvec, 7),
                           as::lui(8, (value + 0x800) >> 12),
                           as::addiw(8, 8, static_cast<i32>(value << 20) >> 20)};
  code.insert(code.end(), visit.begin(), visit.end());
  code.push_back(as::add(5, 5, 6)), code.push_back(as::jal(0, back));
  // RAM has ended: its first page, and the same access again.
  code.push_back(as::addi(5, 0, 1)), code.push_back(as::slli(5, 5, 31)), code.push_back(as::kSret);
  return bytes_of(code);
}

/// Random words to and from random registers of all devices.
inline std::vector<u8> garbage(u64 seed) {
  const auto exclusive = [](u32 rd, u32 a, u32 b) { return encode::r(0x33, rd, 4, a, b, 0); };
  const auto both = [](u32 rd, u32 a, u32 b) { return encode::r(0x33, rd, 7, a, b, 0); };
  const auto right = [](u32 rd, u32 a, i32 n) { return encode::i(0x13, rd, 5, a, n); };
  std::vector<u32> code = {
      as::auipc(7, 0), as::addi(7, 7, 22 * 4), as::csrrw(0, kCsrStvec, 7),
      as::addi(5, 0, static_cast<i32>(seed % 2000 + 1)), as::lui(10, layout::kUart >> 12), as::lui(11, 0x10),
      as::addi(11, 11, -4),
      // A random number (x5), and from other bits of it an address (x9).
      as::slli(6, 5, 13), exclusive(5, 5, 6), right(6, 5, 7), exclusive(5, 5, 6), as::slli(6, 5, 17),
      exclusive(5, 5, 6), right(9, 5, 20), both(9, 9, 11), as::add(9, 9, 10), as::sw(5, 9, 0),
      as::lw(12, 9, 0), as::sb(5, 9, 0), as::add(13, 5, 12), as::jal(0, -13 * 4), as::kNop,
      // A fault: on with the next instruction.
      as::csrrs(14, kCsrSepc, 0), as::addi(14, 14, 4), as::csrrw(0, kCsrSepc, 14), as::kSret};
  return bytes_of(code);
}

/// Sends the 64 KiB at data offset 0x10000 to the agent's port, again and again.
inline std::vector<u8> frame_flood(const std::vector<u8>& bytes) {
  constexpr u64 kTransmit = 0x2000, kAvailable = kTransmit + 0x100;
  ScriptGuest guest;
  guest.open_agent_port().put(0x10000, bytes);
  guest.put_descriptor(kTransmit, ScriptGuest::data(0x10000), static_cast<u32>(bytes.size()), 0, 0);
  const std::size_t again = guest.next();
  guest.add32(ScriptGuest::data(kAvailable), 1u << 16).store32(layout::kVirtio + 0x50, 5).jump(again);
  return guest.binary();
}

/// Reads 4 MiB of the first disk into memory, again and again.
inline std::vector<u8> disk_storm() {
  constexpr u64 kDisk = layout::kVirtio + layout::kVirtioStride, kQueue = 0x1000,
                kBuffer = kRamBase + (16 << 20);
  ScriptGuest guest;
  guest.store32(kDisk + 0x70, 3).store32(kDisk + 0x24, 1).store32(kDisk + 0x20, 1).store32(kDisk + 0x70, 11);
  guest.store32(kDisk + 0x30, 0).store32(kDisk + 0x38, 4);
  for (u32 part = 0; part < 3; ++part)
    guest.store32(kDisk + 0x80 + 0x10 * part, static_cast<u32>(ScriptGuest::data(kQueue + 0x100 * part)));
  guest.store32(kDisk + 0x44, 1).store32(kDisk + 0x70, 15);
  guest.put_descriptor(kQueue, ScriptGuest::data(0x3000), 16, 1, 1);
  guest.put_descriptor(kQueue + 16, kBuffer, 4 << 20, 3, 2);
  guest.put_descriptor(kQueue + 32, ScriptGuest::data(0x4000), 1, 2, 0);
  const std::size_t again = guest.next();
  guest.add32(ScriptGuest::data(kQueue + 0x100), 4u << 16).store32(kDisk + 0x50, 0).spin(1000).jump(again);
  return guest.binary();
}

inline std::vector<u8> many_empty_frames() {
  std::vector<u8> out;
  while (out.size() < 64 * 1024) {
    const std::vector<u8> one = frame(1, 3, 0, {});
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

inline std::vector<Attacker> attackers() {
  constexpr u64 kDebugConsole = 0x4442434e;
  return {
      {"spins", ScriptGuest().spin(~u64{0} >> 2).jump(0).binary()},
      {"floods the firmware's console",
       ScriptGuest().sbi(kDebugConsole, 65536, ScriptGuest::data(0)).jump(0).binary()},
      {"floods the console byte by byte", ScriptGuest().print('x').jump(0).binary()},
      {"floods the agent's port with empty frames", frame_flood(many_empty_frames())},
      {"floods the agent's port with what is no frame", frame_flood(std::vector<u8>(65536, 255))},
      {"reads the disk without an end", disk_storm()},
      {"writes all its memory", over_all_pages(0, {as::sd(5, 5, 0)})},
      {"executes all its memory", over_all_pages(as::jalr(0, 1, 0), {as::sw(8, 5, 0), as::jalr(1, 5, 0)})},
      {"writes garbage to every device", garbage(1)},
      {"writes other garbage to every device", garbage(1234)},
      {"drops its translations", bytes_of({as::lui(5, kSstatusMxr >> 12), as::csrrs(0, kCsrSstatus, 5),
                                           as::csrrc(0, kCsrSstatus, 5), as::jal(0, -8)})},
      // A function of two instructions, whose second one it writes before each call.
      {"writes the code that it runs",
       bytes_of({as::auipc(5, 0), as::addi(5, 5, 28), as::lw(6, 5, 4), as::sw(6, 5, 4), as::jalr(1, 5, 0),
                 as::jal(0, -8), as::kNop, as::kNop, as::jalr(0, 1, 0)})},
      {"sets timers that are due at once", ScriptGuest().timer(0).wfi().jump(0).binary()},
  };
}

}  // namespace shinken::test
