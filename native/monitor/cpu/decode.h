#pragma once
// Instruction words to operations. Total: every bit pattern decodes to something, the unknown ones to
// `Illegal`. Format source: The RISC-V Instruction Set Manual, Volume I (2019-12-13), chapters 2, 7-9, 11-13,
// 16, 24.
#include "monitor/cpu/op.h"

namespace shinken {

/// True if the low half-word starts a 4-byte instruction (wider encodings are treated as 4 bytes and are
/// illegal).
inline bool is_wide(u32 raw) {
  return (raw & 3) == 3;
}

/// Decodes one instruction (for a 2-byte one only the low half counts). Control transfers and Auipc hold
/// their immediate relative to the instruction itself; `decode_block` makes it relative to the block.
Op decode(u32 raw);

/// True if a block must end after this operation.
bool ends_block(OpCode code);
/// The operation itself, where the code stands for a pair.
OpCode first_of(OpCode code);
/// A conditional branch, also as the first of a pair.
inline bool is_branch(OpCode code) {
  return (code >= OpCode::Beq && code <= OpCode::Bgeu) || code == OpCode::Beq_Ld || code == OpCode::Bne_Ld ||
         code == OpCode::Beq_Mv;
}
inline bool is_jump(OpCode code) {
  return code == OpCode::Jal || code == OpCode::J || code == OpCode::End;
}

/// How a branch or jump leaves its block, its target's distance from the block's start, and how to link it.
Link link_of(const Op& op);
i32 distance_of(const Op& op);
u16 linked_entry(const Op& op);
void set_link(Op& op, u16 entry);

/// Decodes a block from `page` (4096 bytes) at `offset` (even), at most `limit` instructions (1..kMaxBlock),
/// never beyond the page. Writes the header and at most limit + 1 operations to `out` (room for
/// kMaxBlockSlots). Returns the number of slots written. An instruction that straddles the page's end becomes
/// a `Cross` block of its own.
unsigned decode_block(const u8* page, unsigned offset, unsigned limit, Op* out);

/// Makes a block of the one instruction `raw`, as `decode_block` would.
unsigned decode_single(u32 raw, unsigned offset, Op* out);

}  // namespace shinken
