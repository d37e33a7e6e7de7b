#pragma once
// Random straight-line programs over IMAFDC that neither trap nor leave: x2, x8 and x9 point into a data area
// and x3 is the harness's; no generated instruction writes them. Branches skip the next instruction.
#include <vector>

#include "test/differential/random.h"

namespace shinken::test {

/// Bytes of code under construction, in half-words.
using Code = std::vector<u16>;

inline void emit32(Code& code, u32 word) {
  code.push_back(static_cast<u16>(word));
  code.push_back(static_cast<u16>(word >> 16));
}

namespace encode {
inline u32 r(u32 opcode, u32 rd, u32 f3, u32 rs1, u32 rs2, u32 f7) {
  return opcode | rd << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | f7 << 25;
}
inline u32 i(u32 opcode, u32 rd, u32 f3, u32 rs1, i32 imm) {
  return opcode | rd << 7 | f3 << 12 | rs1 << 15 | static_cast<u32>(imm) << 20;
}
inline u32 s(u32 opcode, u32 f3, u32 rs1, u32 rs2, i32 imm) {
  const u32 u = static_cast<u32>(imm);
  return opcode | (u & 31) << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | (u >> 5 & 127) << 25;
}
inline u32 b(u32 f3, u32 rs1, u32 rs2, i32 imm) {
  const u32 u = static_cast<u32>(imm);
  return 0x63 | (u >> 11 & 1) << 7 | (u >> 1 & 15) << 8 | f3 << 12 | rs1 << 15 | rs2 << 20 |
         (u >> 5 & 63) << 25 | (u >> 12 & 1) << 31;
}
inline u32 j(u32 rd, i32 imm) {
  const u32 u = static_cast<u32>(imm);
  return 0x6f | rd << 7 | (u & 0xff000) | (u >> 11 & 1) << 20 | (u >> 1 & 0x3ff) << 21 | (u >> 20 & 1) << 31;
}
}  // namespace encode

/// Emits random instructions; one object a program.
class SequenceMaker {
 public:
  explicit SequenceMaker(Random& random) : random_(random) {}

  /// Appends about `count` instructions to `code`. If `aligned`, loads and stores are at multiples of 8 from
  /// their base.
  void append(Code& code, unsigned count, bool aligned = false) {
    aligned_ = aligned;
    for (unsigned n = 0; n < count; ++n) {
      Code next;
      if (random_.chance(8)) {
        Code skipped;
        plain(skipped);
        jump_over(next, static_cast<i32>(2 * skipped.size()));
        next.insert(next.end(), skipped.begin(), skipped.end());
      } else {
        plain(next);
      }
      code.insert(code.end(), next.begin(), next.end());
    }
  }

 private:
  bool reserved(u32 r) const { return r == 2 || r == 3 || r == 8 || r == 9; }
  u32 rd() {
    u32 r = random_.below(32);
    while (reserved(r)) r = random_.below(32);
    return r;
  }
  u32 any() { return random_.below(32); }
  u32 rd_compressed() { return 10 + random_.below(6); }
  i32 imm12() { return static_cast<i32>(random_.below(4096)) - 2048; }
  u32 base() { return random_.chance(50) ? 2 : 8; }
  u32 rounding() {
    const u32 r = random_.below(6);
    return r == 5 ? 7 : r;
  }

  void plain(Code& code) {
    switch (random_.below(10)) {
      case 0:
      case 1:
        emit32(code, integer());
        break;
      case 2:
        emit32(code, immediate());
        break;
      case 3:
        memory(code);
        break;
      case 4:
        atomic(code);
        break;
      case 5:
      case 6:
      case 7:
        emit32(code, floating());
        break;
      case 8:
        code.push_back(compressed());
        break;
      default:
        emit32(code, csr());
        break;
    }
  }

  void jump_over(Code& code, i32 bytes) {
    static constexpr u32 conditions[] = {0, 1, 4, 5, 6, 7};
    switch (random_.below(5)) {
      case 0:
        emit32(code, encode::j(rd(), 4 + bytes));
        break;
      case 3: {  // c.j
        const u32 u = static_cast<u32>(2 + bytes);
        code.push_back(static_cast<u16>(0xa001 | (u >> 5 & 1) << 2 | (u >> 1 & 7) << 3 | (u >> 4 & 1) << 11));
        break;
      }
      case 1: {
        const u32 pointer = rd();
        const u32 via = pointer == 0 ? 1 : pointer;
        emit32(code, encode::i(0x17, via, 0, 0, 0));  // auipc via, 0
        emit32(code, encode::i(0x67, rd(), 0, via, 8 + bytes));
        break;
      }
      case 2: {
        const u32 u = static_cast<u32>(2 + bytes);  // c.beqz or c.bnez
        code.push_back(static_cast<u16>((random_.chance(50) ? 0xc001 : 0xe001) | (u >> 5 & 1) << 2 |
                                        (u >> 1 & 3) << 3 | (u >> 6 & 3) << 5 | random_.below(8) << 7 |
                                        (u >> 3 & 3) << 10));
        break;
      }
      default:
        emit32(code, encode::b(conditions[random_.below(6)], any(), any(), 4 + bytes));
        break;
    }
  }

  u32 integer() {
    const bool word = random_.chance(40);
    const u32 opcode = word ? 0x3b : 0x33;
    u32 f3 = random_.below(8);
    if (random_.chance(40)) {
      if (word && f3 >= 1 && f3 <= 3) f3 = 0;
      return encode::r(opcode, rd(), f3, any(), any(), 1);
    }
    if (word && f3 != 1 && f3 != 5) f3 = 0;
    const bool alternate = (f3 == 0 || f3 == 5) && random_.chance(50);
    return encode::r(opcode, rd(), f3, any(), any(), alternate ? 0x20 : 0);
  }

  u32 immediate() {
    const u32 f3 = random_.below(8);
    const u32 amount = random_.below(64);
    switch (random_.below(4)) {
      case 0:
        return 0x37 | rd() << 7 | (static_cast<u32>(random_.next()) & 0xfffff000);
      case 1:
        return 0x17 | rd() << 7 | (static_cast<u32>(random_.next()) & 0xfffff000);
      case 2:
        if (f3 == 1) return encode::r(0x1b, rd(), 1, any(), amount & 31, 0);
        if (f3 == 5) return encode::r(0x1b, rd(), 5, any(), amount & 31, random_.chance(50) ? 0x20 : 0);
        return encode::i(0x1b, rd(), 0, any(), imm12());
      default:
        if (f3 == 1) return encode::i(0x13, rd(), 1, any(), static_cast<i32>(amount));
        if (f3 == 5)
          return encode::i(0x13, rd(), 5, any(), static_cast<i32>(amount | (random_.chance(50) ? 0x400 : 0)));
        return encode::i(0x13, rd(), f3, any(), imm12());
    }
  }

  void memory(Code& code) {
    const i32 any_imm = random_.chance(60) ? imm12() & ~7 : imm12();
    const i32 imm = aligned_ ? any_imm & ~7 : any_imm;
    switch (random_.below(4)) {
      case 0:
        emit32(code, encode::s(0x23, random_.below(4), base(), any(), imm));
        break;
      case 1:
        emit32(code, encode::s(0x27, 2 + random_.below(2), base(), any(), imm));
        break;
      case 2:
        emit32(code, encode::i(0x07, any(), 2 + random_.below(2), base(), imm));
        break;
      default:
        emit32(code, encode::i(0x03, rd(), random_.below(7), base(), imm));
        break;
    }
  }

  void atomic(Code& code) {
    static constexpr u32 kinds[] = {0x01, 0x00, 0x04, 0x0c, 0x08, 0x10, 0x14, 0x18, 0x1c};
    const u32 f3 = 2 + random_.below(2);
    const u32 order = random_.below(4);
    if (random_.chance(25)) {
      emit32(code, encode::r(0x2f, rd(), f3, 9, 0, 0x02 << 2 | order));
      emit32(code, encode::r(0x2f, rd(), f3, 9, any(), 0x03 << 2 | order));
      return;
    }
    emit32(code, encode::r(0x2f, rd(), f3, 9, any(), kinds[random_.below(9)] << 2 | order));
  }

  u32 floating() {
    const u32 format = random_.below(2);
    switch (random_.below(9)) {
      case 0:
      case 1:
        return encode::r(0x53, any(), rounding(), any(), any(), random_.below(4) << 2 | format);
      case 2:
        return encode::r(0x53, any(), rounding(), any(), 0, 0x0b << 2 | format);
      case 3:
      case 4:
        return encode::r(0x43 | random_.below(4) << 2, any(), rounding(), any(), any(), any() << 2 | format);
      case 5:
        return select(format);
      case 6:
        return encode::r(0x53, rd(), rounding(), any(), random_.below(4), 0x18 << 2 | format);
      case 7:
        return encode::r(0x53, any(), rounding(), any(), random_.below(4), 0x1a << 2 | format);
      default:
        return move(format);
    }
  }
  u32 select(u32 format) {
    switch (random_.below(3)) {
      case 0:
        return encode::r(0x53, any(), random_.below(3), any(), any(), 0x04 << 2 | format);
      case 1:
        return encode::r(0x53, any(), random_.below(2), any(), any(), 0x05 << 2 | format);
      default:
        return encode::r(0x53, rd(), random_.below(3), any(), any(), 0x14 << 2 | format);
    }
  }
  u32 move(u32 format) {
    switch (random_.below(4)) {
      case 0:
        return encode::r(0x53, rd(), 0, any(), 0, 0x1c << 2 | format);
      case 1:
        return encode::r(0x53, rd(), 1, any(), 0, 0x1c << 2 | format);
      case 2:
        return encode::r(0x53, any(), 0, any(), 0, 0x1e << 2 | format);
      default:
        return encode::r(0x53, any(), rounding(), any(), 1 - format, 0x08 << 2 | format);
    }
  }

  u32 csr() {
    switch (random_.below(6)) {
      case 0:
        return encode::i(0x73, rd(), 5, random_.below(5), 0x002);  // csrrwi frm
      case 4:
        return encode::i(0x73, rd(), 5, random_.below(32), 0x003);  // csrrwi fcsr, to nearest
      case 1:
        return encode::i(0x73, rd(), 5 + random_.below(3), any(), 0x001);  // fflags, immediate
      case 2:
        return encode::i(0x73, rd(), 2, 0, 0x003);  // frcsr
      case 3:
        return encode::i(0x73, rd(), 1 + random_.below(3), any(), 0x001);  // fflags, register
      default:
        return 0x0000000f | random_.below(256) << 20;  // fence
    }
  }

  u16 compressed() {
    const u32 imm5 = random_.below(32);
    const u32 imm1 = random_.below(2);
    const u32 low = rd_compressed() - 8;
    const u32 high = random_.below(8);
    const u32 full = rd();
    const u32 nonzero = full == 0 ? 1 : full;
    const u32 offset_d = random_.below(8) << 10 | random_.below(4) << 5;
    // Bits 6 and 5: offset bits 2 and 6. A multiple of 8 leaves bit 2 clear.
    const u32 offset_w = random_.below(8) << 10 | (random_.below(4) & (aligned_ ? 1 : 3)) << 5;
    switch (random_.below(22)) {
      case 0:
        return static_cast<u16>(0x0000 | low << 2 | (1 + random_.below(255)) << 5);  // c.addi4spn
      case 1:
        return static_cast<u16>(0x2000 | high << 2 | 0 << 7 | offset_d);  // c.fld f, (x8)
      case 2:
        return static_cast<u16>(0x4000 | low << 2 | 0 << 7 | offset_w);  // c.lw
      case 3:
        return static_cast<u16>(0x6000 | low << 2 | 0 << 7 | offset_d);  // c.ld
      case 4:
        return static_cast<u16>(0xa000 | high << 2 | 0 << 7 | offset_d);  // c.fsd
      case 5:
        return static_cast<u16>(0xc000 | high << 2 | 0 << 7 | offset_w);  // c.sw
      case 6:
        return static_cast<u16>(0xe000 | high << 2 | 0 << 7 | offset_d);  // c.sd
      case 7:
        return static_cast<u16>(0x0001 | imm5 << 2 | full << 7 | imm1 << 12);  // c.addi
      case 8:
        return static_cast<u16>(0x2001 | imm5 << 2 | nonzero << 7 | imm1 << 12);  // c.addiw
      case 9:
        return static_cast<u16>(0x4001 | imm5 << 2 | full << 7 | imm1 << 12);  // c.li
      case 10:
        return static_cast<u16>(0x6001 | (imm5 | 1) << 2 | nonzero << 7 | imm1 << 12);  // c.lui
      case 11:
        return static_cast<u16>(0x8001 | imm5 << 2 | low << 7 | random_.below(3) << 10 | imm1 << 12);
      case 12:
        return static_cast<u16>(0x8c01 | high << 2 | low << 7 | random_.below(4) << 5);  // c.sub ..
      case 13:
        return static_cast<u16>(0x9c01 | high << 2 | low << 7 | random_.below(2) << 5);  // c.subw, c.addw
      case 14:
        return static_cast<u16>(0x0002 | imm5 << 2 | full << 7 | imm1 << 12);  // c.slli
      case 15:
        return static_cast<u16>(0x2002 | imm5 << 2 | any() << 7 | imm1 << 12);  // c.fldsp
      case 16:
        return static_cast<u16>(0x6002 | imm5 << 2 | nonzero << 7 | imm1 << 12);  // c.ldsp
      case 17:
        return static_cast<u16>(0x8002 | (1 + random_.below(31)) << 2 | full << 7 | imm1 << 12);
      case 18:
        return static_cast<u16>(0xe002 | any() << 2 | random_.below(64) << 7);  // c.sdsp
      case 19:
        return static_cast<u16>(0xa002 | any() << 2 | random_.below(64) << 7);  // c.fsdsp
      case 20:  // c.swsp; offset bit 2 is bit 9
        return static_cast<u16>(0xc002 | any() << 2 | (random_.below(64) & (aligned_ ? ~4u : ~0u)) << 7);
      default:  // c.lwsp; offset bit 2 is bit 4
        return static_cast<u16>(0x4002 | (aligned_ ? imm5 & ~4u : imm5) << 2 | nonzero << 7 | imm1 << 12);
    }
  }

  Random& random_;
  bool aligned_ = false;
};

}  // namespace shinken::test
