#pragma once
// Golden files, version 2, and delta files, version 1, from their parts.
#include <string>
#include <unordered_map>
#include <vector>

#include "monitor/snapshot/golden_file.h"

namespace shinken {

class GoldenWriter {
 public:
  GoldenWriter(u32 machine_abi, const Digest& state_digest, u64 memory_pages);

  /// Makes it a delta file, which stands on the golden of this digest.
  void stand_on(const Digest& golden);
  /// In order of number; not for pages of zeros, but in a delta. `data` must stay until `write`. Returns the
  /// page's body.
  u64 add_page(u64 number, const u8* data, const Digest& hash);
  u64 bodies() const { return bodies_.size(); }
  /// What golden_code.h encodes; ignored if it is more than a reader takes.
  void set_code(std::vector<u8> code);
  /// Under a temporary name beside `path`, synced, renamed. Gives its length. Throws MonitorError kFile,
  /// kZstdMissing.
  u64 write(const std::string& path, const std::vector<u8>& meta, GoldenLayout layout);

 private:
  struct HashOf {
    std::size_t operator()(const Digest& digest) const { return digest.lo; }
  };
  struct Body {
    const u8* data;
    Digest hash;
  };
  std::vector<u8> encode_index() const;

  golden_file::Header header_;
  std::vector<std::pair<u64, u64>> pages_;  // number, body
  std::vector<Body> bodies_;
  std::unordered_map<Digest, u64, HashOf> known_;
  std::vector<u8> code_;
};

}  // namespace shinken
