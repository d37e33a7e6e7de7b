#pragma once
// A set of page numbers: one bit each, in pieces of 16 MiB of RAM that exist once something in them is set.
#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "monitor/memory/page_table.h"

namespace shinken {

class PageSet {
  static constexpr u64 kWords = kPagesPerMid / 64;
  using Piece = std::array<u64, kWords>;

 public:
  explicit PageSet(u64 pages) : pieces_((pages + kPagesPerMid - 1) / kPagesPerMid) {}

  PageSet(const PageSet& other) : pieces_(other.pieces_.size()), count_(other.count_) {
    for (std::size_t m = 0; m < pieces_.size(); ++m) {
      if (other.pieces_[m]) pieces_[m] = std::make_unique<Piece>(*other.pieces_[m]);
    }
  }
  PageSet& operator=(const PageSet&) = delete;

  bool has(u64 page) const {
    const Piece* piece = pieces_[mid_index(page)].get();
    return piece != nullptr && ((*piece)[word(page)] & bit(page)) != 0;
  }
  /// True if the page is new to the set.
  bool add(u64 page) {
    auto& piece = pieces_[mid_index(page)];
    if (!piece) piece = std::make_unique<Piece>();
    u64& bits = (*piece)[word(page)];
    if ((bits & bit(page)) != 0) return false;
    bits |= bit(page);
    ++count_;
    return true;
  }
  /// True if the page was in the set.
  bool remove(u64 page) {
    if (!has(page)) return false;
    (*pieces_[mid_index(page)])[word(page)] &= ~bit(page);
    --count_;
    return true;
  }
  void clear() {
    for (auto& piece : pieces_) piece.reset();
    count_ = 0;
  }
  u64 count() const { return count_; }

  /// In order of number.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (u64 m = 0; m < pieces_.size(); ++m) {
      if (!pieces_[m]) continue;
      for (u64 w = 0; w < kWords; ++w) {
        for (u64 bits = (*pieces_[m])[w]; bits != 0; bits &= bits - 1) {
          visit(m * kPagesPerMid + w * 64 + static_cast<u64>(std::countr_zero(bits)));
        }
      }
    }
  }
  /// The first pages of the pieces in which something was set.
  template <class Visit>
  void for_each_piece(Visit&& visit) const {
    for (u64 m = 0; m < pieces_.size(); ++m) {
      if (pieces_[m]) visit(m * kPagesPerMid);
    }
  }

 private:
  static u64 word(u64 page) { return page % kPagesPerMid / 64; }
  static u64 bit(u64 page) { return u64{1} << (page % 64); }
  std::vector<std::unique_ptr<Piece>> pieces_;
  u64 count_ = 0;
};

}  // namespace shinken
