#pragma once
// Saved goldens and deltas, and copies of their files that were tampered with.
#include <filesystem>

#include "monitor/base/bytes.h"
#include "monitor/snapshot/delta.h"
#include "monitor/snapshot/golden_file.h"
#include "monitor/snapshot/golden_inspect.h"
#include "test/support/machines.h"

namespace shinken::test {

inline constexpr ForkOptions kGrade{ForkKind::kGrade, {}};

/// The kind with which a load is refused; kClosed if it is not.
inline ErrorKind refusal(const std::string& path, const GoldenLoad& options = {}) {
  try {
    Golden::load(path, options);
  } catch (const MonitorError& error) {
    return error.kind();
  }
  return ErrorKind::kClosed;
}

/// The same of a full inspection.
inline ErrorKind fault(const std::string& path) {
  try {
    inspect_golden(path, GoldenCheck::kFull);
  } catch (const MonitorError& error) {
    return error.kind();
  }
  return ErrorKind::kClosed;
}

/// The kind with which a delta is refused on that golden; kClosed if it is not.
inline ErrorKind delta_refusal(const std::string& path, const Golden& golden) {
  try {
    load_delta(path, golden);
  } catch (const MonitorError& error) {
    return error.kind();
  }
  return ErrorKind::kClosed;
}

struct SavedFile {
  TempDir dir;
  std::string path;
  std::vector<u8> bytes;
  golden_file::Header header;

  void read_back(golden_file::FileKind kind) {
    bytes = dir.read(std::filesystem::path(path).filename().string());
    header = golden_file::read_header(bytes, kind);
  }

  /// A copy with one bit changed.
  std::string altered(u64 at) const {
    std::vector<u8> copy = bytes;
    copy[at] ^= 0x10;
    return dir.write("altered", copy);
  }
  std::string cut(u64 length) const { return dir.write("cut", std::span(bytes).first(length)); }
  /// A copy whose header says something else under a fresh seal.
  template <typename Change>
  std::string resealed(Change change) const {
    golden_file::Header other = header;
    change(other);
    std::vector<u8> copy = golden_file::encode_header(other);
    copy.insert(copy.end(), bytes.begin() + static_cast<std::ptrdiff_t>(copy.size()), bytes.end());
    return dir.write("resealed", copy);
  }
  /// A copy in which one section has other content of the same length, under right checksums.
  std::string replaced(golden_file::Section golden_file::Header::* section,
                       std::span<const u8> content) const {
    const std::string name = resealed([&](auto& h) { (h.*section).hash = hash_bytes(content); });
    std::vector<u8> copy = dir.read("resealed");
    std::copy(content.begin(), content.end(),
              copy.begin() + static_cast<std::ptrdiff_t>((header.*section).at));
    return dir.write("resealed", copy);
  }
  std::vector<u8> content(const golden_file::Section& s) const {
    const auto part = std::span(bytes).subspan(s.at, s.bytes);
    return {part.begin(), part.end()};
  }
};

/// The golden of a machine that answered once, with the code of a fork that answered once more.
struct SavedGolden : SavedFile {
  std::shared_ptr<Golden> golden;

  explicit SavedGolden(GoldenLayout layout = GoldenLayout::kMapped) {
    auto machine = start_echo(dir, 4);
    machine->run(ask(1, 3));
    golden = machine->freeze();
    auto fork = Machine::fork(golden, kGrade);
    fork->run(ask(2, 4));
    fork->share_code_with(*golden);
    path = dir.file("g");
    golden->save(path, "a note", layout);
    read_back(golden_file::FileKind::kGolden);
  }
};

/// The state of a machine that answered twice, on the golden of one that answered once.
struct SavedDelta : SavedFile {
  std::shared_ptr<Golden> golden;
  Digest digest;

  explicit SavedDelta(bool compress = false) {
    auto machine = start_echo(dir, 4);
    machine->run(ask(1, 3));
    golden = machine->freeze();
    machine->run(ask(2, 4));
    path = dir.file("d");
    digest = save_delta(*machine->freeze(), *golden, path, {"a note", compress}).digest;
    read_back(golden_file::FileKind::kDelta);
  }
  ErrorKind refusal(const std::string& file) const { return delta_refusal(file, *golden); }
};

}  // namespace shinken::test
