#pragma once
// Where blocks start in a golden's pages, in its file: all that must be known to have its decoded code at
// once after a load, since what a block decodes to follows from its bytes.
//
//   for each body with code, in order:  u32 body, u16 count - 1, count times: u16 half-word, ascending
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "monitor/cpu/code_page.h"
#include "monitor/cpu/code_starts.h"

namespace shinken {

/// `body_data` are the golden's bodies, by number. Empty if there is no code in them.
std::vector<u8> encode_code(const SharedBlocks& blocks, std::span<const u8* const> body_data);

/// Calls `visit` for every body of the section. False if the bytes are no such section (some may have been
/// visited).
bool for_each_code_page(std::span<const u8> bytes, u64 bodies,
                        const std::function<void(u64 body, std::span<const u16> starts)>& visit);

}  // namespace shinken
