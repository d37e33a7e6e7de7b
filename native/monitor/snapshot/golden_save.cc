#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include "monitor/base/bytes.h"
#include "monitor/snapshot/golden_file.h"
#include "monitor/snapshot/golden_impl.h"

namespace shinken {
namespace {

using namespace golden_file;

/// A file under a temporary name: renamed by `commit`, else removed.
class PendingFile {
 public:
  explicit PendingFile(const std::string& path) : path_(path) {
    // Unique in this process and among processes; O_EXCL settles the rest.
    static std::atomic<u32> serial{0};
    temporary_ = path + ".tmp." + std::to_string(getpid()) + "." + std::to_string(serial.fetch_add(1));
    file_ = FileHandle(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file_.get() < 0) throw_file_error("cannot create", temporary_);
  }
  ~PendingFile() {
    if (!committed_) ::unlink(temporary_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::span<const u8> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw_file_error("cannot write", temporary_);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  void commit() {
    if (fsync(file_.get()) != 0) throw_file_error("cannot sync", temporary_);
    file_.reset();
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw_file_error("cannot rename to", path_);
    committed_ = true;
    // The name itself must survive a power cut, too.
    const auto slash = path_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    FileHandle parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.get() >= 0) fsync(parent.get());
  }

 private:
  std::string path_, temporary_;
  FileHandle file_;
  bool committed_ = false;
};

void put_digest(ByteWriter& to, const Digest& digest) {
  to.put<u64>(digest.lo);
  to.put<u64>(digest.hi);
}

u64 align_up(u64 value, u64 by) {
  return (value + by - 1) / by * by;
}

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

std::vector<u8> encode_header(const Header& h) {
  ByteWriter to;
  to.put_bytes(kMagic);
  to.put<u32>(h.version);
  to.put<u32>(h.machine_abi);
  put_digest(to, h.state_digest);
  for (u64 value : {h.file_bytes, h.memory_pages, h.stored_pages, h.meta_bytes, h.index_at, h.pages_at}) {
    to.put<u64>(value);
  }
  put_digest(to, h.meta_hash);
  put_digest(to, h.index_hash);
  std::vector<u8> bytes = to.take();
  ByteWriter seal;
  put_digest(seal, hash_bytes(bytes));
  const std::vector<u8> tail = seal.take();
  bytes.insert(bytes.end(), tail.begin(), tail.end());
  return bytes;
}

}  // namespace

void Golden::save(const std::string& path, const std::string& note) const {
  if (note.size() > kMaxNoteBytes) throw MonitorError(ErrorKind::kInvalidConfig, "a note has at most 64 KiB");
  Header header{};
  header.version = kVersion;
  header.machine_abi = kMachineAbi;
  header.state_digest = digest();  // also leaves every page's hash cached

  std::vector<const Page*> pages;
  ByteWriter index_writer;
  impl_->image->for_each_page([&](u64 number, Page& page) {
    const Digest hash = page.content_hash();
    if (hash == zero_page_hash()) return;
    pages.push_back(&page);
    index_writer.put<u64>(number);
    put_digest(index_writer, hash);
  });
  const std::vector<u8> meta = encode_meta(*impl_, note), index = index_writer.take();

  header.memory_pages = impl_->image->pages();
  header.stored_pages = pages.size();
  header.meta_bytes = meta.size();
  header.index_at = align_up(kHeaderBytes + meta.size(), 8);
  header.pages_at = align_up(header.index_at + index.size(), kPageSize);
  header.file_bytes = header.pages_at + pages.size() * kPageSize;
  header.meta_hash = hash_bytes(meta);
  header.index_hash = hash_bytes(index);

  PendingFile file(path);
  std::vector<u8> front = encode_header(header);
  front.insert(front.end(), meta.begin(), meta.end());
  front.resize(header.index_at);
  front.insert(front.end(), index.begin(), index.end());
  front.resize(header.pages_at);
  file.write(front);
  // Gathered, so that a golden is a few hundred writes and not one per page.
  constexpr std::size_t kGather = 256;
  std::vector<u8> piece;
  for (std::size_t at = 0; at < pages.size(); at += kGather) {
    piece.clear();
    for (std::size_t i = at; i < std::min(at + kGather, pages.size()); ++i) {
      piece.insert(piece.end(), pages[i]->data, pages[i]->data + kPageSize);
    }
    file.write(piece);
  }
  file.commit();
}

}  // namespace shinken
