#include "monitor/snapshot/delta.h"

#include <cstring>

#include "monitor/base/zstd.h"
#include "monitor/snapshot/golden_impl.h"
#include "monitor/snapshot/golden_parts.h"
#include "monitor/snapshot/golden_writer.h"

namespace shinken {
namespace {

alignas(kPageSize) const u8 kZeroPage[kPageSize] = {};

const u8* bytes_of(const Page* page) {
  return page == nullptr ? kZeroPage : page->data;
}

using Disks = std::vector<std::shared_ptr<DiskFile>>;

bool same_disks(const Disks& one, const Disks& other) {
  if (one.size() != other.size()) return false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i]->identity() != other[i]->identity() || one[i]->size() != other[i]->size()) return false;
  }
  return true;
}

bool same_disks(const Disks& one, const std::vector<GoldenFacts::Disk>& recorded) {
  if (one.size() != recorded.size()) return false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i]->identity() != recorded[i].identity || one[i]->size() != recorded[i].size) return false;
  }
  return true;
}

}  // namespace

DeltaFacts save_delta(const Golden& state, const Golden& golden, const std::string& path,
                      const DeltaSave& options) {
  const Golden::Impl &from = state.impl(), &base = golden.impl();
  if (options.note.size() > golden_file::kMaxNoteBytes) {
    throw MonitorError(ErrorKind::kInvalidConfig, "a note has at most 64 KiB");
  }
  if (from.image->pages() != base.image->pages() || !same_disks(from.disks, base.disks)) {
    throw MonitorError(ErrorKind::kInvalidConfig,
                       "a delta stands on a golden with as much memory and the same disks");
  }
  GoldenWriter writer(kMachineAbi, state.digest(), from.image->pages());
  writer.stand_on(golden.digest());
  u64 pages = 0;
  from.image->for_each_difference(*base.image, [&](u64 number, Page* page) {
    const u8* bytes = bytes_of(page);
    if (std::memcmp(bytes, bytes_of(base.image->find(number)), kPageSize) == 0) return;
    writer.add_page(number, bytes, page == nullptr ? zero_page_hash() : page->content_hash());
    ++pages;
  });
  const bool compress = options.compress.value_or(zstd::available());
  const u64 bytes = writer.write(path, encode_meta(from, options.note),
                                 compress ? GoldenLayout::kCompressed : GoldenLayout::kMapped);
  return {state.digest(), pages, bytes};
}

std::shared_ptr<Golden> load_delta(const std::string& path, const Golden& golden) {
  const GoldenReader file(path, golden_file::FileKind::kDelta);
  const golden_file::Header& h = file.header();
  check_abi(h);
  Golden::Impl& base = golden.impl();
  if (h.stands_on != golden.digest() || h.memory_pages != base.image->pages()) {
    throw MonitorError(ErrorKind::kDeltaGolden,
                       "stands on the golden " + h.stands_on.hex() + ", not on " + golden.digest().hex());
  }
  GoldenReader::Meta meta = file.meta();
  if (!same_disks(base.disks, meta.disks)) {
    throw MonitorError(ErrorKind::kGoldenDisk, "made with other disks than its golden");
  }
  auto state = std::make_unique<Golden::Impl>();
  state->disks = base.disks;
  state->state = std::move(meta.state);
  state->note = std::move(meta.note);
  {
    const std::lock_guard lock(base.mutex);
    state->code = base.code;
  }
  ImageBuilder builder(base.image);
  const auto bodies = put_pages(file, builder, [&](u64 body) {
    return file.body_hash(body) == zero_page_hash() ? nullptr : base.image->pool()->take();
  });
  for_each_body(file, [&](u64 body, const u8* data) {
    check_body(file, body, data);
    if (bodies[body] == nullptr) return;
    std::memcpy(bodies[body]->data, data, kPageSize);
    bodies[body]->set_hash(file.body_hash(body));
  });
  state->image = builder.finish(base.image->kind());
  state->digest = machine_digest(state->state, h.memory_pages, state->memory_sum());
  if (*state->digest != h.state_digest) {
    throw MonitorError(ErrorKind::kGoldenDigest, "the parts do not add up to the recorded state");
  }
  if (!describe_state(state->state, state->disks, &state->instret, &state->ticks)) {
    throw MonitorError(ErrorKind::kGoldenState, "the device state makes no sense");
  }
  return std::make_shared<Golden>(std::move(state));
}

}  // namespace shinken
