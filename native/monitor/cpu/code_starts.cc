#include "monitor/cpu/code_starts.h"

#include "monitor/cpu/decode.h"
#include "monitor/cpu/translate.h"

namespace shinken {

std::vector<u16> starts_of(const CodePage& page) {
  std::vector<u16> starts;
  for (u16 half = 0; half < kPageSize / 2; ++half) {
    if (page.index[half] != 0) starts.push_back(half);
  }
  return starts;
}

std::shared_ptr<const SharedBlocks> decode_shared(const std::vector<CodeStarts>& pages, u64 max_slots) {
  std::vector<std::shared_ptr<CodePage>> flat;
  std::vector<const CodeStarts*> sources;  // of `flat`, one each
  flat.reserve(pages.size());
  u64 slots = 0;
  for (const CodeStarts& from : pages) {
    if (slots >= max_slots) break;
    CodePage page;
    page.bytes = from.bytes;
    for (const u16 half : from.starts) {
      Op block[kMaxBlockSlots];
      const unsigned offset = unsigned{half} * 2;
      if (!page.add(offset, block, decode_block(from.bytes, offset, kMaxBlock, block))) break;
    }
    slots += page.own.size();
    if (auto shared = page.flattened(from.bytes, from.hold)) {
      flat.push_back(std::move(shared));
      sources.push_back(&from);
    }
  }
  translate_shared(flat);
  auto blocks = std::make_shared<SharedBlocks>();
  for (std::size_t i = 0; i < flat.size(); ++i) {
    for (const u64 number : sources[i]->pages) blocks->put(number, flat[i]->bytes, flat[i]->hold, flat[i]);
  }
  return blocks;
}

}  // namespace shinken
