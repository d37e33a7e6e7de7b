#pragma once
// Machines at rest that still hold decoded code, the longest parked first. Guarded by the engine.
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "monitor/machine/machine.h"

namespace shinken {

class ParkedCaches {
 public:
  /// `machine` ended a run and holds so many bytes.
  void park(const std::shared_ptr<Machine>& machine, u64 bytes);
  /// It runs again.
  void leave(const Machine* machine);
  /// Takes out the longest parked that together hold `bytes`, or all; those that are gone are forgotten.
  std::vector<std::shared_ptr<Machine>> take(u64 bytes);
  u64 size() const { return entries_.size(); }

 private:
  struct Entry {
    const Machine* key;  // never followed: the machine may be gone
    std::weak_ptr<Machine> machine;
    u64 bytes;
  };
  void forget_gone();

  std::list<Entry> entries_;
  std::unordered_map<const Machine*, std::list<Entry>::iterator> places_;
  u64 sweep_at_ = 1024;
};

}  // namespace shinken
