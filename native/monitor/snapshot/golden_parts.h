#pragma once
// What loading and inspecting golden files and delta files have in common.
#include <functional>
#include <vector>

#include "monitor/memory/memory_image.h"
#include "monitor/snapshot/golden_reader.h"

namespace shinken {

/// Throws kGoldenAbi.
void check_abi(const golden_file::Header& header);

/// Visits every body, unpacked, in order; what it holds is not checked.
void for_each_body(const GoldenReader& file, const std::function<void(u64 body, const u8* data)>& visit);
/// Throws kGoldenPage if that is not what the file recorded.
void check_body(const GoldenReader& file, u64 body, const u8* data);

/// Puts a page into `builder` for each entry of the index; `page_of` makes that of a body, with one
/// reference, or gives null for the page of zeros. Gives the pages by body; the builder holds them.
std::vector<Page*> put_pages(const GoldenReader& file, ImageBuilder& builder,
                             const std::function<Page*(u64 body)>& page_of);

}  // namespace shinken
