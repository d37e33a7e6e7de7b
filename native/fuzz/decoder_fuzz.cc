// The decoder on arbitrary pages: it must be total, stay in its buffer and describe its blocks truthfully.
#include <cstdlib>
#include <cstring>

#include "monitor/cpu/decode.h"

using namespace shinken;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_block(const u8* page, unsigned offset, unsigned limit) {
  Op slots[kMaxBlockSlots];
  const unsigned count = decode_block(page, offset, limit, slots);
  require(count > kHeaderSlots && count <= kMaxBlockSlots);
  BlockHeader header;
  std::memcpy(&header, slots, sizeof header);
  require(header.count >= 1 && header.count <= limit && header.offset == offset);
  require(header.bytes >= 2 * header.count && header.bytes <= 4 * header.count);
  for (unsigned i = kHeaderSlots; i < count; ++i) {
    const Op& op = slots[i];
    require(op.code < OpCode::Count);
    require(ends_block(op.code) == (i + 1 == count));
    // Stores to a register file of 32 must stay in it.
    if (op.code < OpCode::Beq) require(op.a < 32 && op.b < 32);
    if (is_branch(op.code) || is_jump(op.code)) {
      require(link_of(op) != kLinked);
      const i64 target = static_cast<i64>(offset) + distance_of(op);
      require((link_of(op) == kNear) <= (target >= 0 && target < static_cast<i64>(kPageSize)));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  static u8 page[kPageSize];
  if (size < 2) return 0;
  std::memset(page, 0, sizeof page);
  const unsigned limit = 1 + data[0] % kMaxBlock;
  // The input lies at the page's end, so that short ones reach the straddling instruction.
  const std::size_t used = size - 1 < kPageSize ? (size - 1) & ~std::size_t{1} : kPageSize;
  std::memcpy(page + kPageSize - used, data + 1, used);
  for (std::size_t offset = kPageSize - used; offset < kPageSize; offset += 2) {
    check_block(page, static_cast<unsigned>(offset), limit);
    u32 raw = 0;
    std::memcpy(&raw, page + offset, offset + 4 <= kPageSize ? 4 : 2);
    Op slots[kMaxBlockSlots];
    require(decode_single(raw, static_cast<unsigned>(offset), slots) > kHeaderSlots);
  }
  return 0;
}
