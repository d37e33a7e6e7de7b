// The F and D extensions' computational instructions.
// Format source: The RISC-V Instruction Set Manual, Volume I (2019-12-13), chapters 11, 12 and 24.
#include "monitor/cpu/decode_parts.h"

namespace shinken::decoding {

using enum OpCode;

namespace {

/// Rounding modes 5 and 6 are reserved; 7 is dynamic.
bool valid_rounding(u32 rm) {
  return rm != 5 && rm != 6;
}

Op with_rounding(OpCode code, u32 raw) {
  const u32 rm = bits(raw, 12, 3);
  if (!valid_rounding(rm)) return illegal();
  const i32 imm = static_cast<i32>(bits(raw, 20, 5) | bits(raw, 27, 5) << 5 | rm << 10);
  return make(code, bits(raw, 7, 5), bits(raw, 15, 5), imm);
}
Op plain(OpCode code, u32 raw) {
  return make(code, bits(raw, 7, 5), bits(raw, 15, 5), static_cast<i32>(bits(raw, 20, 5)));
}

Op fused(u32 raw) {
  const u32 format = bits(raw, 25, 2);
  static constexpr OpCode single[4] = {FmaddS, FmsubS, FnmsubS, FnmaddS};
  static constexpr OpCode wide[4] = {FmaddD, FmsubD, FnmsubD, FnmaddD};
  const u32 kind = bits(raw, 2, 2);
  if (format == 0) return with_rounding(single[kind], raw);
  if (format == 1) return with_rounding(wide[kind], raw);
  return illegal();
}

Op selected(const OpCode* codes, unsigned count, u32 selector, u32 raw) {
  return selector < count ? plain(codes[selector], raw) : illegal();
}
Op selected_rounding(const OpCode* codes, unsigned count, u32 selector, u32 raw) {
  return selector < count ? with_rounding(codes[selector], raw) : illegal();
}

/// The operations that exist alike in both formats; `d` selects the format.
Op by_function(u32 raw, u32 function, bool d) {
  const u32 rm = bits(raw, 12, 3);
  const u32 rs2 = bits(raw, 20, 5);
  static constexpr OpCode arithmetic[2][4] = {{FaddS, FsubS, FmulS, FdivS}, {FaddD, FsubD, FmulD, FdivD}};
  static constexpr OpCode sign[2][3] = {{FsgnjS, FsgnjnS, FsgnjxS}, {FsgnjD, FsgnjnD, FsgnjxD}};
  static constexpr OpCode minmax[2][2] = {{FminS, FmaxS}, {FminD, FmaxD}};
  static constexpr OpCode compare[2][3] = {{FleS, FltS, FeqS}, {FleD, FltD, FeqD}};
  static constexpr OpCode to_int[2][4] = {{FcvtWS, FcvtWuS, FcvtLS, FcvtLuS},
                                          {FcvtWD, FcvtWuD, FcvtLD, FcvtLuD}};
  static constexpr OpCode from_int[2][4] = {{FcvtSW, FcvtSWu, FcvtSL, FcvtSLu},
                                            {FcvtDW, FcvtDWu, FcvtDL, FcvtDLu}};
  switch (function) {
    case 0x00:
    case 0x01:
    case 0x02:
    case 0x03:
      return with_rounding(arithmetic[d][function], raw);
    case 0x0b:
      return rs2 == 0 ? with_rounding(d ? FsqrtD : FsqrtS, raw) : illegal();
    case 0x04:
      return selected(sign[d], 3, rm, raw);
    case 0x05:
      return selected(minmax[d], 2, rm, raw);
    case 0x14:
      return selected(compare[d], 3, rm, raw);
    case 0x18:
      return selected_rounding(to_int[d], 4, rs2, raw);
    case 0x1a:
      return selected_rounding(from_int[d], 4, rs2, raw);
    case 0x1c:
      if (rs2 != 0) return illegal();
      if (rm == 0) return plain(d ? FmvXD : FmvXW, raw);
      if (rm == 1) return plain(d ? FclassD : FclassS, raw);
      return illegal();
    case 0x1e:
      return rs2 == 0 && rm == 0 ? plain(d ? FmvDX : FmvWX, raw) : illegal();
    default:
      return illegal();
  }
}

}  // namespace

Op decode_float(u32 raw) {
  if (bits(raw, 2, 5) != 0x14) return fused(raw);
  const u32 function = raw >> 27;
  const u32 format = bits(raw, 25, 2);
  if (function == 0x08) {
    const u32 rs2 = bits(raw, 20, 5);
    if (format == 0 && rs2 == 1) return with_rounding(FcvtSD, raw);
    if (format == 1 && rs2 == 0) return with_rounding(FcvtDS, raw);
    return illegal();
  }
  if (format > 1) return illegal();
  return by_function(raw, function, format == 1);
}

}  // namespace shinken::decoding
