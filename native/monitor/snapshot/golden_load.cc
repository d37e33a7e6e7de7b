#include <cstring>

#include "monitor/base/bytes.h"
#include "monitor/machine/abi.h"
#include "monitor/snapshot/golden_file.h"
#include "monitor/snapshot/golden_impl.h"

namespace shinken {
namespace {

using namespace golden_file;

[[noreturn]] void refuse(ErrorKind kind, const std::string& why) {
  throw MonitorError(kind, why);
}

Digest get_digest(ByteReader& from) {
  const u64 lo = from.get<u64>();
  return {lo, from.get<u64>()};
}

/// Everything that can be said from the header alone, so that later reads are in bounds.
Header check_header(std::span<const u8> file) {
  if (file.size() < sizeof kMagic) refuse(ErrorKind::kGoldenTruncated, "shorter than its header");
  if (std::memcmp(file.data(), kMagic, sizeof kMagic) != 0)
    refuse(ErrorKind::kGoldenMagic, "not a golden file");
  if (file.size() < kHeaderBytes) refuse(ErrorKind::kGoldenTruncated, "shorter than its header");
  ByteReader from(file.subspan(sizeof kMagic, kHeaderBytes - sizeof kMagic));
  Header h{};
  h.version = from.get<u32>();
  h.machine_abi = from.get<u32>();
  // Before the seal: another version may seal otherwise.
  if (h.version != kVersion) {
    refuse(ErrorKind::kGoldenVersion,
           "format version " + std::to_string(h.version) + ", this monitor reads 1");
  }
  h.state_digest = get_digest(from);
  for (u64* value :
       {&h.file_bytes, &h.memory_pages, &h.stored_pages, &h.meta_bytes, &h.index_at, &h.pages_at}) {
    *value = from.get<u64>();
  }
  h.meta_hash = get_digest(from);
  h.index_hash = get_digest(from);
  if (get_digest(from) != hash_bytes(file.first(kHeaderBytes - 16))) {
    refuse(ErrorKind::kGoldenHeader, "the header's checksum is wrong");
  }
  if (h.machine_abi != kMachineAbi) {
    refuse(ErrorKind::kGoldenAbi, "made by machine_abi " + std::to_string(h.machine_abi) +
                                      ", this monitor is " + std::to_string(kMachineAbi));
  }
  const bool sane = h.memory_pages >= kMinMemoryMiB << 20 >> kPageShift &&
                    h.memory_pages <= kMaxMemoryMiB << 20 >> kPageShift && h.stored_pages <= h.memory_pages &&
                    h.meta_bytes <= kMaxMetaBytes && h.index_at % 8 == 0 && h.index_at <= h.file_bytes &&
                    h.index_at >= kHeaderBytes + h.meta_bytes && h.pages_at % kPageSize == 0 &&
                    h.pages_at <= h.file_bytes && h.pages_at >= h.index_at &&
                    h.pages_at - h.index_at >= h.stored_pages * kIndexEntryBytes &&
                    h.file_bytes - h.pages_at == h.stored_pages * kPageSize;
  if (!sane) refuse(ErrorKind::kGoldenHeader, "the header's sizes contradict each other");
  if (file.size() < h.file_bytes) {
    refuse(ErrorKind::kGoldenTruncated,
           std::to_string(file.size()) + " bytes of " + std::to_string(h.file_bytes));
  }
  if (file.size() > h.file_bytes) refuse(ErrorKind::kGoldenHeader, "longer than its header says");
  return h;
}

void load_meta(std::span<const u8> bytes, const GoldenLoad& options, Golden::Impl& golden) {
  ByteReader from(bytes);
  golden.state = from.get_string(static_cast<u32>(kMaxMetaBytes));
  const u32 disks = from.get<u32>();
  if (disks > kMaxDisks) refuse(ErrorKind::kGoldenState, "more disks than a machine has");
  if (from.ok() && disks != options.disks.size()) {
    refuse(ErrorKind::kGoldenDisk,
           "made with " + std::to_string(disks) + " disks, not " + std::to_string(options.disks.size()));
  }
  for (u32 i = 0; i < disks && from.ok(); ++i) {
    const u64 size = from.get<u64>();
    const std::vector<u8> identity = from.get_string(static_cast<u32>(kMaxDiskIdentity));
    if (!from.ok()) break;
    const DiskConfig& given = options.disks[i];
    if (given.writable) refuse(ErrorKind::kGoldenDisk, "a golden's disks are read-only");
    if (given.identity != std::string(identity.begin(), identity.end())) {
      refuse(ErrorKind::kGoldenDisk, "disk " + std::to_string(i) + " is another one");
    }
    golden.disks.push_back(DiskFile::open(given.path, given.identity, false));
    if (golden.disks.back()->size() != size) {
      refuse(ErrorKind::kGoldenDisk, "disk " + std::to_string(i) + " has another size");
    }
  }
  const std::vector<u8> note = from.get_string(static_cast<u32>(kMaxNoteBytes));
  golden.note.assign(note.begin(), note.end());
  if (!from.ok() || !from.at_end()) refuse(ErrorKind::kGoldenState, "the device state is cut short");
}

std::shared_ptr<const MemoryImage> load_pages(const std::shared_ptr<const MappedFile>& mapped,
                                              const Header& h, GoldenCheck check) {
  const u8* base = mapped->bytes().data();
  const u8* index = base + h.index_at;
  u64 next = 0;
  for (u64 i = 0; i < h.stored_pages; ++i) {
    const u64 number = load_le<u64>(index + i * kIndexEntryBytes);
    if (number < next || number >= h.memory_pages) {
      refuse(ErrorKind::kGoldenIndex, "page numbers out of order or beyond RAM");
    }
    next = number + 1;
  }
  ImageBuilder builder(std::make_shared<PagePool>(), h.memory_pages);
  if (h.stored_pages == 0) return builder.finish();
  Page* pages = FilePages::create(mapped, base + h.pages_at, h.stored_pages);
  // Given to the builder before anything can throw: it drops them then.
  for (u64 i = 0; i < h.stored_pages; ++i) builder.put(load_le<u64>(index + i * kIndexEntryBytes), &pages[i]);
  for (u64 i = 0; i < h.stored_pages; ++i) {
    const u8* entry = index + i * kIndexEntryBytes;
    const Digest recorded{load_le<u64>(entry + 8), load_le<u64>(entry + 16)};
    if (check == GoldenCheck::kFull && hash_page(pages[i].data) != recorded) {
      refuse(ErrorKind::kGoldenPage, "page " + std::to_string(load_le<u64>(entry)) + " was altered");
    }
    pages[i].set_hash(recorded);
  }
  return builder.finish();
}

}  // namespace

std::shared_ptr<Golden> Golden::load(const std::string& path, const GoldenLoad& options) {
  const auto mapped = MappedFile::open(path);
  const std::span<const u8> file = mapped->bytes();
  const Header h = check_header(file);
  const std::span<const u8> meta = file.subspan(kHeaderBytes, h.meta_bytes);
  if (hash_bytes(meta) != h.meta_hash) refuse(ErrorKind::kGoldenState, "the device state was altered");
  const std::span<const u8> index = file.subspan(h.index_at, h.stored_pages * kIndexEntryBytes);
  if (hash_bytes(index) != h.index_hash) refuse(ErrorKind::kGoldenIndex, "the page index was altered");

  auto golden = std::make_unique<Impl>();
  load_meta(meta, options, *golden);
  golden->image = load_pages(mapped, h, options.check);
  golden->digest = machine_digest(golden->state, h.memory_pages, golden->image->sum());
  if (*golden->digest != h.state_digest) {
    refuse(ErrorKind::kGoldenDigest, "the parts do not add up to the recorded state");
  }
  if (!describe_state(golden->state, golden->disks, &golden->instret, &golden->ticks)) {
    refuse(ErrorKind::kGoldenState, "the device state makes no sense");
  }
  return std::make_shared<Golden>(std::move(golden));
}

}  // namespace shinken
