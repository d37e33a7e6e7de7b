#include "proof/journal.h"

#include <sstream>
#include <stdexcept>

namespace shinken::proof {

Journal::Journal(std::string path, const std::string& build) : path_(std::move(path)) {
  std::ifstream in(path_);
  std::string line;
  if (std::getline(in, line) && line == build) {
    while (std::getline(in, line)) {
      std::istringstream words(line);
      unsigned kind = 0;
      u64 number = 0;
      BatchResult result;
      words >> kind >> number >> result.traps >> result.interrupts >> result.mismatches;
      for (u64& count : result.counts.by_extension) words >> count;
      for (u64& count : result.counts.by_rounding) words >> count;
      // The last line may have been cut off.
      if (words && kind < std::size(kKinds)) done_[{kKinds[kind], number}] = result;
    }
    return;
  }
  std::ofstream(path_) << build << "\n";
}

void Journal::add(Kind kind, u64 number, const BatchResult& result) {
  done_[{kind, number}] = result;
  std::ofstream out(path_, std::ios::app);
  out << static_cast<unsigned>(kind) << " " << number << " " << result.traps << " " << result.interrupts
      << " " << result.mismatches;
  for (const u64 count : result.counts.by_extension) out << " " << count;
  for (const u64 count : result.counts.by_rounding) out << " " << count;
  out << std::endl;
  if (!out) throw std::runtime_error("cannot write " + path_);
}

}  // namespace shinken::proof
