#include "monitor/snapshot/golden_writer.h"

#include <algorithm>
#include <cstring>

#include "monitor/base/bytes.h"
#include "monitor/base/zstd.h"
#include "monitor/snapshot/pending_file.h"

namespace shinken {

using namespace golden_file;

GoldenWriter::GoldenWriter(u32 machine_abi, const Digest& state_digest, u64 memory_pages) {
  header_.machine_abi = machine_abi;
  header_.state_digest = state_digest;
  header_.memory_pages = memory_pages;
}

void GoldenWriter::stand_on(const Digest& golden) {
  header_.kind = FileKind::kDelta;
  header_.stands_on = golden;
}

u64 GoldenWriter::add_page(u64 number, const u8* data, const Digest& hash) {
  u64 body = bodies_.size();
  const auto [found, fresh] = known_.try_emplace(hash, body);
  // The hash finds; the bytes decide, for they are what a guest reads.
  if (!fresh && std::memcmp(bodies_[found->second].data, data, kPageSize) == 0) body = found->second;
  if (body == bodies_.size()) bodies_.push_back({data, hash});
  pages_.emplace_back(number, body);
  return body;
}

void GoldenWriter::set_code(std::vector<u8> code) {
  if (code.size() <= kMaxCodeBytes) code_ = std::move(code);
}

std::vector<u8> GoldenWriter::encode_index() const {
  ByteWriter to;
  for (const auto& [number, body] : pages_) {
    to.put<u32>(static_cast<u32>(number));
    to.put<u32>(static_cast<u32>(body));
  }
  for (const Body& body : bodies_) {
    to.put<u64>(body.hash.lo);
    to.put<u64>(body.hash.hi);
  }
  return to.take();
}

u64 GoldenWriter::write(const std::string& path, const std::vector<u8>& meta, GoldenLayout layout) {
  const std::vector<u8> index = encode_index();
  PendingFile file(path);
  Header h = header_;
  h.stored_pages = pages_.size();
  h.bodies = bodies_.size();
  h.layout = layout;
  h.chunk_pages = layout == GoldenLayout::kCompressed ? kChunkPages : 0;
  h.meta = {kHeaderBytes, meta.size(), hash_bytes(meta)};
  h.index = {align_up(h.meta.end(), 8), index.size(), hash_bytes(index)};
  h.chunks = {h.index.end(), h.chunk_count() * kChunkEntryBytes, {}};
  h.code = {h.chunks.end(), code_.size(), hash_bytes(code_)};
  const bool mapped = layout == GoldenLayout::kMapped;
  h.pages.at = align_up(h.code.end(), h.page_alignment());

  // The bodies first: how long the compressed ones are is known when they are there. Gathered, so that it is
  // one write a chunk and not one a page.
  ByteWriter chunks;
  std::vector<u8> piece;
  file.seek(h.pages.at);
  for (u64 at = 0; at < bodies_.size(); at += kChunkPages) {
    piece.clear();
    for (u64 i = at; i < std::min<u64>(at + kChunkPages, bodies_.size()); ++i) {
      piece.insert(piece.end(), bodies_[i].data, bodies_[i].data + kPageSize);
    }
    if (!mapped) piece = zstd::compress(piece);
    file.write(piece);
    h.pages.bytes += piece.size();
    if (!mapped) chunks.put<u64>(h.pages.bytes);
  }
  const std::vector<u8> table = chunks.take();
  h.chunks.hash = hash_bytes(table);
  h.file_bytes = h.pages.end();

  std::vector<u8> front = encode_header(h);
  front.insert(front.end(), meta.begin(), meta.end());
  front.resize(h.index.at);
  for (const auto* part : {&index, &table, static_cast<const std::vector<u8>*>(&code_)}) {
    front.insert(front.end(), part->begin(), part->end());
  }
  front.resize(h.pages.at);
  file.seek(0);
  file.write(front);
  file.commit();
  return h.file_bytes;
}

}  // namespace shinken
