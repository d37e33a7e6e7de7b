#include "monitor/base/bytes.h"
#include "monitor/snapshot/golden_code.h"
#include "monitor/snapshot/golden_impl.h"
#include "monitor/snapshot/golden_writer.h"

namespace shinken {

std::vector<u8> encode_meta(const Golden::Impl& golden, const std::string& note) {
  ByteWriter to;
  to.put_string(golden.state);
  to.put<u32>(static_cast<u32>(golden.disks.size()));
  for (const auto& disk : golden.disks) {
    to.put<u64>(disk->size());
    to.put_string({reinterpret_cast<const u8*>(disk->identity().data()), disk->identity().size()});
  }
  to.put_string({reinterpret_cast<const u8*>(note.data()), note.size()});
  return to.take();
}

void Golden::save(const std::string& path, const std::string& note, GoldenLayout layout) const {
  if (note.size() > golden_file::kMaxNoteBytes) {
    throw MonitorError(ErrorKind::kInvalidConfig, "a note has at most 64 KiB");
  }
  // The digest also leaves every page's hash cached.
  GoldenWriter writer(kMachineAbi, digest(), impl_->image->pages());
  std::vector<const u8*> bodies;
  impl_->image->for_each_page([&](u64 number, Page& page) {
    const Digest hash = page.content_hash();
    if (hash == zero_page_hash()) return;
    if (writer.add_page(number, page.data, hash) == bodies.size()) bodies.push_back(page.data);
  });
  decode_code();
  std::shared_ptr<const SharedBlocks> code;
  {
    std::lock_guard lock(impl_->mutex);
    code = impl_->code->get();
  }
  if (code) writer.set_code(encode_code(*code, bodies));
  writer.write(path, encode_meta(*impl_, note), layout);
}

}  // namespace shinken
