#pragma once
// What a proof has done so far, one line a batch, so that it goes on where it was stopped. Lines are of one
// build: another executable begins anew.
#include <fstream>
#include <map>
#include <string>

#include "proof/batch.h"

namespace shinken::proof {

class Journal {
 public:
  using Key = std::pair<Kind, u64>;

  /// Reads what the file holds, if it is of `build`; else empties it.
  Journal(std::string path, const std::string& build);
  const BatchResult* find(Kind kind, u64 number) const {
    const auto found = done_.find({kind, number});
    return found == done_.end() ? nullptr : &found->second;
  }
  /// Notes a batch. Throws std::runtime_error if the file cannot be written.
  void add(Kind kind, u64 number, const BatchResult& result);

 private:
  std::string path_;
  std::map<Key, BatchResult> done_;
};

}  // namespace shinken::proof
