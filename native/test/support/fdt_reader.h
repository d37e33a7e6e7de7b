#pragma once
// Reads flattened device trees back, written from the specification and not from the writer.
#include <map>
#include <string>
#include <vector>

#include "monitor/base/types.h"

namespace shinken::test {

class FdtReader {
 public:
  explicit FdtReader(std::vector<u8> blob) : blob_(std::move(blob)) { ok_ = parse(); }
  bool ok() const { return ok_; }
  bool has(const std::string& path, const std::string& name) const {
    return values_.contains(path + ":" + name);
  }
  std::string text(const std::string& path, const std::string& name) const {
    const std::vector<u8> value = get(path, name);
    return value.empty() ? "" : std::string(reinterpret_cast<const char*>(value.data()));
  }
  u32 cell(const std::string& path, const std::string& name) const {
    const std::vector<u8> value = get(path, name);
    return value.size() < 4 ? 0 : word(value, 0);
  }
  u64 wide(const std::string& path, const std::string& name, unsigned index = 0) const {
    const std::vector<u8> value = get(path, name);
    if (value.size() < 8 * (index + 1)) return 0;
    return u64{word(value, 8 * index)} << 32 | word(value, 8 * index + 4);
  }

 private:
  static u32 word(const std::vector<u8>& bytes, std::size_t at) {
    return u32{bytes.at(at)} << 24 | u32{bytes.at(at + 1)} << 16 | u32{bytes.at(at + 2)} << 8 |
           bytes.at(at + 3);
  }
  std::vector<u8> get(const std::string& path, const std::string& name) const {
    const auto found = values_.find(path + ":" + name);
    return found == values_.end() ? std::vector<u8>{} : found->second;
  }
  std::string string_at(std::size_t at) const {
    std::string out;
    while (blob_.at(at) != 0) out += static_cast<char>(blob_[at++]);
    return out;
  }
  bool parse() {
    if (word(blob_, 0) != 0xd00dfeed || word(blob_, 4) > blob_.size() || word(blob_, 20) != 17) return false;
    std::size_t at = word(blob_, 8);
    const std::size_t strings = word(blob_, 12), end = at + word(blob_, 36);
    std::vector<std::string> path;
    while (at < end) {
      const u32 token = word(blob_, at);
      at += 4;
      if (token == 1) {
        const std::string name = string_at(at);
        path.push_back(path.empty() ? "" : path.back() + "/" + name);
        at += (name.size() + 4) / 4 * 4;
      } else if (token == 2) {
        path.pop_back();
      } else if (token == 3) {
        const u32 length = word(blob_, at);
        const std::string name = string_at(strings + word(blob_, at + 4));
        const auto from = blob_.begin() + static_cast<std::ptrdiff_t>(at + 8);
        values_[path.back() + ":" + name] = {from, from + length};
        at += 8 + (length + 3) / 4 * 4;
      } else {
        return token == 9 && path.empty() && at == end;
      }
    }
    return false;
  }
  std::vector<u8> blob_;
  std::map<std::string, std::vector<u8>> values_;
  bool ok_ = false;
};

}  // namespace shinken::test
