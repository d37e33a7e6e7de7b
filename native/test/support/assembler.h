#pragma once
// The few instruction words that the CPU tests write by hand.
#include "monitor/cpu/csr_numbers.h"
#include "test/differential/sequence.h"

namespace shinken::test {

namespace as {
using namespace encode;
inline u32 addi(u32 rd, u32 rs1, i32 imm) {
  return i(0x13, rd, 0, rs1, imm);
}
inline u32 addiw(u32 rd, u32 rs1, i32 imm) {
  return i(0x1b, rd, 0, rs1, imm);
}
inline u32 slli(u32 rd, u32 rs1, i32 n) {
  return i(0x13, rd, 1, rs1, n);
}
inline u32 lui(u32 rd, u32 page) {
  return 0x37 | rd << 7 | page << 12;
}
inline u32 auipc(u32 rd, u32 page) {
  return 0x17 | rd << 7 | page << 12;
}
inline u32 add(u32 rd, u32 rs1, u32 rs2) {
  return r(0x33, rd, 0, rs1, rs2, 0);
}
inline u32 lb(u32 rd, u32 rs1, i32 imm) {
  return i(0x03, rd, 0, rs1, imm);
}
inline u32 lw(u32 rd, u32 rs1, i32 imm) {
  return i(0x03, rd, 2, rs1, imm);
}
inline u32 ld(u32 rd, u32 rs1, i32 imm) {
  return i(0x03, rd, 3, rs1, imm);
}
inline u32 sb(u32 rs2, u32 rs1, i32 imm) {
  return s(0x23, 0, rs1, rs2, imm);
}
inline u32 sw(u32 rs2, u32 rs1, i32 imm) {
  return s(0x23, 2, rs1, rs2, imm);
}
inline u32 sd(u32 rs2, u32 rs1, i32 imm) {
  return s(0x23, 3, rs1, rs2, imm);
}
inline u32 beq(u32 rs1, u32 rs2, i32 to) {
  return b(0, rs1, rs2, to);
}
inline u32 bne(u32 rs1, u32 rs2, i32 to) {
  return b(1, rs1, rs2, to);
}
inline u32 bge(u32 rs1, u32 rs2, i32 to) {
  return b(5, rs1, rs2, to);
}
inline u32 jal(u32 rd, i32 to) {
  return j(rd, to);
}
inline u32 jalr(u32 rd, u32 rs1, i32 imm) {
  return i(0x67, rd, 0, rs1, imm);
}
inline u32 csrrw(u32 rd, u32 csr, u32 rs1) {
  return i(0x73, rd, 1, rs1, static_cast<i32>(csr));
}
inline u32 csrrs(u32 rd, u32 csr, u32 rs1) {
  return i(0x73, rd, 2, rs1, static_cast<i32>(csr));
}
inline u32 csrrc(u32 rd, u32 csr, u32 rs1) {
  return i(0x73, rd, 3, rs1, static_cast<i32>(csr));
}
inline u32 lr_d(u32 rd, u32 rs1) {
  return r(0x2f, rd, 3, rs1, 0, 0x08);
}
inline u32 sc_d(u32 rd, u32 rs2, u32 rs1) {
  return r(0x2f, rd, 3, rs1, rs2, 0x0c);
}
inline u32 amoadd_d(u32 rd, u32 rs2, u32 rs1) {
  return r(0x2f, rd, 3, rs1, rs2, 0x00);
}
inline u32 amoadd_w(u32 rd, u32 rs2, u32 rs1) {
  return r(0x2f, rd, 2, rs1, rs2, 0x00);
}
inline constexpr u32 kEcall = 0x00000073, kEbreak = 0x00100073, kSret = 0x10200073, kWfi = 0x10500073;
inline constexpr u32 kFenceI = 0x0000100f, kSfenceVma = 0x12000073, kNop = 0x00000013;
}  // namespace as

}  // namespace shinken::test
