#include "monitor/snapshot/golden_inspect.h"

#include "monitor/snapshot/golden_code.h"
#include "monitor/snapshot/golden_impl.h"
#include "monitor/snapshot/golden_parts.h"
#include "monitor/snapshot/golden_reader.h"
#include "monitor/snapshot/golden_writer.h"

namespace shinken {
namespace {

Digest memory_sum(const GoldenReader& file) {
  Digest sum;
  for (u64 i = 0; i < file.header().stored_pages; ++i) {
    const Digest share = page_share(file.number(i), file.body_hash(file.body_of(i)));
    sum.lo += share.lo;
    sum.hi += share.hi;
  }
  return sum;
}

/// Visits every body, unpacked and checked, in order.
void for_each_checked(const GoldenReader& file, const std::function<void(u64 body, const u8* data)>& visit) {
  for_each_body(file, [&](u64 body, const u8* data) {
    check_body(file, body, data);
    visit(body, data);
  });
}

}  // namespace

GoldenFacts inspect_golden(const std::string& path, GoldenCheck check) {
  const GoldenReader file(path);
  const golden_file::Header& h = file.header();
  GoldenReader::Meta meta = file.meta();
  if (machine_digest(meta.state, h.memory_pages, memory_sum(file), h.machine_abi) != h.state_digest) {
    throw MonitorError(ErrorKind::kGoldenDigest, "the parts do not add up to the recorded state");
  }
  if (check == GoldenCheck::kFull) for_each_checked(file, [](u64, const u8*) {});
  GoldenFacts facts{};
  if (!file.code_is_whole() ||
      !for_each_code_page(file.code(), h.bodies, [&](u64, std::span<const u16> starts) {
        ++facts.code_pages;
        facts.code_blocks += starts.size();
      })) {
    if (check == GoldenCheck::kFull)
      throw MonitorError(ErrorKind::kGoldenCode, "the block starts were altered");
    facts.code_pages = facts.code_blocks = 0;
  }
  facts.version = h.version;
  facts.machine_abi = h.machine_abi;
  facts.digest = h.state_digest;
  facts.layout = h.layout;
  facts.file_bytes = h.file_bytes;
  facts.memory_bytes = h.memory_pages << kPageShift;
  facts.stored_pages = h.stored_pages;
  facts.bodies = h.bodies;
  facts.body_bytes = h.pages.bytes;
  facts.disks = std::move(meta.disks);
  facts.note = std::move(meta.note);
  return facts;
}

void repack_golden(const std::string& from, const std::string& to, GoldenLayout layout) {
  const GoldenReader file(from);
  const golden_file::Header& h = file.header();
  // All of it, where it is not mapped anyway: repacking is for archives, which have the time.
  std::vector<u8> unpacked;
  if (h.layout == GoldenLayout::kCompressed) unpacked.resize(h.bodies * kPageSize);
  std::vector<const u8*> bodies(h.bodies);
  for_each_checked(file, [&](u64 body, const u8* data) {
    bodies[body] = data;
    if (unpacked.empty()) return;
    bodies[body] = &unpacked[body * kPageSize];
    std::memcpy(&unpacked[body * kPageSize], data, kPageSize);
  });
  GoldenWriter writer(h.machine_abi, h.state_digest, h.memory_pages);
  for (u64 i = 0; i < h.stored_pages; ++i) {
    const u64 body = file.body_of(i);
    writer.add_page(file.number(i), bodies[body], file.body_hash(body));
  }
  // Bodies that were stored twice have new numbers; then the starts mean others.
  const auto code = file.code();
  if (writer.bodies() == h.bodies) writer.set_code({code.begin(), code.end()});
  const auto meta = file.file()->bytes().subspan(h.meta.at, h.meta.bytes);
  writer.write(to, {meta.begin(), meta.end()}, layout);
}

}  // namespace shinken
