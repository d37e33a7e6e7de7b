#include "monitor/snapshot/golden_code.h"
#include "monitor/snapshot/golden_impl.h"
#include "monitor/snapshot/golden_parts.h"
#include "monitor/snapshot/golden_reader.h"

namespace shinken {
namespace {

[[noreturn]] void refuse(ErrorKind kind, const std::string& why) {
  throw MonitorError(kind, why);
}

void load_disks(const std::vector<GoldenFacts::Disk>& recorded, const GoldenLoad& options,
                Golden::Impl& golden) {
  if (recorded.size() != options.disks.size()) {
    refuse(ErrorKind::kGoldenDisk, "made with " + std::to_string(recorded.size()) + " disks, not " +
                                       std::to_string(options.disks.size()));
  }
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const DiskConfig& given = options.disks[i];
    if (given.writable) refuse(ErrorKind::kGoldenDisk, "a golden's disks are read-only");
    if (given.identity != recorded[i].identity) {
      refuse(ErrorKind::kGoldenDisk, "disk " + std::to_string(i) + " is another one");
    }
    golden.disks.push_back(DiskFile::open(given.path, given.identity, false));
    if (golden.disks.back()->size() != recorded[i].size) {
      refuse(ErrorKind::kGoldenDisk, "disk " + std::to_string(i) + " has another size");
    }
  }
}

/// A golden's memory, and its different pages by number. Whoever holds the image holds the pages.
struct Pages {
  std::shared_ptr<const MemoryImage> image;
  std::vector<Page*> bodies;
};

Pages load_pages(const GoldenReader& file, GoldenCheck check) {
  const golden_file::Header& h = file.header();
  const auto pool = std::make_shared<PagePool>();
  ImageBuilder builder(pool, h.memory_pages);
  const bool mapped = h.layout == GoldenLayout::kMapped;
  Page* in_file =
      mapped && h.bodies > 0 ? FilePages::create(file.file(), file.mapped_bodies(), h.bodies) : nullptr;
  Pages pages;
  pages.bodies = put_pages(file, builder, [&](u64 body) { return mapped ? &in_file[body] : pool->take(); });
  for_each_body(file, [&](u64 body, const u8* data) {
    Page& page = *pages.bodies[body];
    if (!mapped) std::memcpy(page.data, data, kPageSize);
    // What was unpacked was read anyway.
    if (check == GoldenCheck::kFull || !mapped) check_body(file, body, data);
    page.set_hash(file.body_hash(body));
  });
  pages.image = builder.finish();
  return pages;
}

/// Null if the file names no blocks, or what names them is not whole: then code is decoded as it is met.
std::shared_ptr<const std::vector<CodeStarts>> load_starts(const GoldenReader& file, const Pages& pages) {
  auto code = std::make_shared<std::vector<CodeStarts>>();
  std::vector<std::size_t> at(pages.bodies.size());  // one more than a body's place in `code`
  const bool whole =
      for_each_code_page(file.code(), pages.bodies.size(), [&](u64 body, std::span<const u16> starts) {
        Page* page = pages.bodies[body];
        page->keep();
        std::shared_ptr<const void> hold(page->data,
                                         [page, pool = pages.image->pool()](const void*) { page->drop(); });
        code->push_back({{}, page->data, std::move(hold), {starts.begin(), starts.end()}});
        at[body] = code->size();
      });
  for (u64 i = 0; i < file.header().stored_pages; ++i) {
    if (const std::size_t place = at[file.body_of(i)]) (*code)[place - 1].pages.push_back(file.number(i));
  }
  return whole && !code->empty() ? code : nullptr;
}

}  // namespace

std::shared_ptr<Golden> Golden::load(const std::string& path, const GoldenLoad& options) {
  const GoldenReader file(path);
  const golden_file::Header& h = file.header();
  check_abi(h);
  GoldenReader::Meta meta = file.meta();
  auto golden = std::make_unique<Impl>();
  load_disks(meta.disks, options, *golden);
  golden->state = std::move(meta.state);
  golden->note = std::move(meta.note);
  const Pages pages = load_pages(file, options.check);
  golden->image = pages.image;
  golden->digest = machine_digest(golden->state, h.memory_pages, golden->image->sum());
  if (*golden->digest != h.state_digest) {
    refuse(ErrorKind::kGoldenDigest, "the parts do not add up to the recorded state");
  }
  if (!describe_state(golden->state, golden->disks, &golden->instret, &golden->ticks)) {
    refuse(ErrorKind::kGoldenState, "the device state makes no sense");
  }
  golden->starts = load_starts(file, pages);
  return std::make_shared<Golden>(std::move(golden));
}

}  // namespace shinken
