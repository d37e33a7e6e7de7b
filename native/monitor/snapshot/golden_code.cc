#include "monitor/snapshot/golden_code.h"

#include "monitor/base/bytes.h"

namespace shinken {

std::vector<u8> encode_code(const SharedBlocks& blocks, std::span<const u8* const> body_data) {
  ByteWriter to;
  for (std::size_t body = 0; body < body_data.size(); ++body) {
    const auto page = blocks.find(body_data[body]);
    if (!page) continue;
    const std::vector<u16> starts = starts_of(*page);
    if (starts.empty()) continue;
    to.put<u32>(static_cast<u32>(body));
    to.put<u16>(static_cast<u16>(starts.size() - 1));
    for (const u16 start : starts) to.put<u16>(start);
  }
  return to.take();
}

bool for_each_code_page(std::span<const u8> bytes, u64 bodies,
                        const std::function<void(u64 body, std::span<const u16> starts)>& visit) {
  ByteReader from(bytes);
  std::vector<u16> starts;
  for (u64 least = 0; !from.at_end();) {
    const u32 body = from.get<u32>();
    const u32 count = u32{from.get<u16>()} + 1;
    if (!from.ok() || body < least || body >= bodies || count > kPageSize / 2) return false;
    starts.clear();
    for (u32 i = 0; i < count; ++i) {
      const u16 start = from.get<u16>();
      if (start >= kPageSize / 2 || (i > 0 && start <= starts.back())) return false;
      starts.push_back(start);
    }
    if (!from.ok()) return false;
    visit(body, starts);
    least = u64{body} + 1;
  }
  return true;
}

}  // namespace shinken
