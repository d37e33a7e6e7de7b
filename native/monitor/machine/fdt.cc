#include "monitor/machine/fdt.h"

namespace shinken {
namespace {

constexpr u32 kMagic = 0xd00dfeed, kVersion = 17, kLastCompatible = 16;
constexpr u32 kBeginNode = 1, kEndNode = 2, kProperty = 3, kEnd = 9;
constexpr u32 kHeaderBytes = 40, kReserveBytes = 16;

void put_be32(std::vector<u8>& to, u32 value) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<u8>(value >> shift));
}

}  // namespace

void FdtWriter::word(u32 value) {
  put_be32(structure_, value);
}

void FdtWriter::pad() {
  structure_.resize((structure_.size() + 3) / 4 * 4);
}

void FdtWriter::begin_node(std::string_view name) {
  word(kBeginNode);
  structure_.insert(structure_.end(), name.begin(), name.end());
  structure_.push_back(0);
  pad();
}

void FdtWriter::end_node() {
  word(kEndNode);
}

void FdtWriter::property(std::string_view name, std::span<const u8> value) {
  auto found = string_at_.find(name);
  if (found == string_at_.end()) {
    found = string_at_.emplace(name, static_cast<u32>(strings_.size())).first;
    strings_.insert(strings_.end(), name.begin(), name.end());
    strings_.push_back(0);
  }
  word(kProperty);
  word(static_cast<u32>(value.size()));
  word(found->second);
  structure_.insert(structure_.end(), value.begin(), value.end());
  pad();
}

void FdtWriter::text(std::string_view name, std::string_view value) {
  texts(name, {value});
}

void FdtWriter::texts(std::string_view name, std::initializer_list<std::string_view> values) {
  std::vector<u8> bytes;
  for (std::string_view value : values) {
    bytes.insert(bytes.end(), value.begin(), value.end());
    bytes.push_back(0);
  }
  property(name, bytes);
}

void FdtWriter::cells(std::string_view name, std::initializer_list<u32> values) {
  std::vector<u8> bytes;
  for (u32 value : values) put_be32(bytes, value);
  property(name, bytes);
}

void FdtWriter::wide(std::string_view name, std::initializer_list<u64> values) {
  std::vector<u8> bytes;
  for (u64 value : values) {
    put_be32(bytes, static_cast<u32>(value >> 32));
    put_be32(bytes, static_cast<u32>(value));
  }
  property(name, bytes);
}

std::vector<u8> FdtWriter::finish() {
  word(kEnd);
  const u32 structure_at = kHeaderBytes + kReserveBytes;
  const u32 strings_at = structure_at + static_cast<u32>(structure_.size());
  const u32 total = strings_at + static_cast<u32>(strings_.size());
  std::vector<u8> out;
  for (u32 field : {kMagic, total, structure_at, strings_at, kHeaderBytes, kVersion, kLastCompatible, u32{0},
                    static_cast<u32>(strings_.size()), static_cast<u32>(structure_.size())}) {
    put_be32(out, field);
  }
  out.resize(structure_at);  // one reservation entry of zeros: the end of the list
  out.insert(out.end(), structure_.begin(), structure_.end());
  out.insert(out.end(), strings_.begin(), strings_.end());
  return out;
}

}  // namespace shinken
