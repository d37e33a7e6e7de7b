#pragma once
// Writes flattened device trees, version 17 (Devicetree Specification 0.4, chapter 5).
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/base/types.h"

namespace shinken {

/// Nodes are opened and closed in the order of the file; properties come before child nodes.
class FdtWriter {
 public:
  void begin_node(std::string_view name);
  void end_node();
  void property(std::string_view name, std::span<const u8> value);
  void empty(std::string_view name) { property(name, std::span<const u8>{}); }
  void text(std::string_view name, std::string_view value);
  /// Several zero-terminated strings.
  void texts(std::string_view name, std::initializer_list<std::string_view> values);
  void cells(std::string_view name, std::initializer_list<u32> values);
  /// 64-bit values of two cells each, as `reg` has them here.
  void wide(std::string_view name, std::initializer_list<u64> values);
  /// The blob; every node must have been closed.
  std::vector<u8> finish();

 private:
  void word(u32 value);
  void pad();
  std::vector<u8> structure_, strings_;
  std::map<std::string, u32, std::less<>> string_at_;
};

}  // namespace shinken
