#include "monitor/snapshot/golden_parts.h"

#include "monitor/machine/abi.h"

namespace shinken {

void check_abi(const golden_file::Header& header) {
  if (header.machine_abi == kMachineAbi) return;
  throw MonitorError(ErrorKind::kGoldenAbi, "made by machine_abi " + std::to_string(header.machine_abi) +
                                                ", this monitor is " + std::to_string(kMachineAbi));
}

void check_body(const GoldenReader& file, u64 body, const u8* data) {
  if (hash_page(data) == file.body_hash(body)) return;
  throw MonitorError(ErrorKind::kGoldenPage, "body " + std::to_string(body) + " was altered");
}

void for_each_body(const GoldenReader& file, const std::function<void(u64 body, const u8* data)>& visit) {
  const golden_file::Header& h = file.header();
  if (h.layout == GoldenLayout::kMapped) {
    for (u64 b = 0; b < h.bodies; ++b) visit(b, file.mapped_bodies() + b * kPageSize);
    return;
  }
  std::vector<u8> room(h.chunk_pages * kPageSize);
  for (u64 chunk = 0; chunk < h.chunk_count(); ++chunk) {
    file.unpack(chunk, room.data());
    for (u64 i = 0; i < file.bodies_in(chunk); ++i) {
      visit(chunk * h.chunk_pages + i, room.data() + i * kPageSize);
    }
  }
}

std::vector<Page*> put_pages(const GoldenReader& file, ImageBuilder& builder,
                             const std::function<Page*(u64 body)>& page_of) {
  std::vector<Page*> bodies;
  bodies.reserve(file.header().bodies);
  for (u64 i = 0; i < file.header().stored_pages; ++i) {
    const u64 body = file.body_of(i);
    // A body's first page takes over the reference that it comes with; bodies first appear in their order.
    if (body == bodies.size()) {
      bodies.push_back(page_of(body));
    } else if (bodies[body] != nullptr) {
      bodies[body]->keep();
    }
    builder.put(file.number(i), bodies[body]);
  }
  return bodies;
}

}  // namespace shinken
