#pragma once
// A system program as one flat binary; see system_layout.h.
#include <cstring>

#include "test/differential/system_fragment.h"
#include "test/differential/system_harness.h"

namespace shinken::test::system {

struct SystemProgram {
  unsigned fragments = 0;
  unsigned instructions = 0;  // random ones
  Code code;                  // of all fragments
  std::vector<u64> starts;    // half-words into it, one a fragment and one for the end
  std::vector<u8> binary;

  /// Makes the harness print registers and traps of one fragment.
  void show(u64 fragment) { put(kState + kVerbose, &fragment, sizeof fragment); }
  void put(u64 pa, const void* from, u64 size) {
    if (binary.size() < pa - kBase + size) binary.resize(pa - kBase + size);
    std::memcpy(&binary[pa - kBase], from, size);
  }
  template <class Values>
  void put_all(u64 pa, const Values& values) {
    put(pa, values.data(), values.size() * sizeof values[0]);
  }
};

/// `fragments` of `length` random instructions each; the same for the same seed.
inline SystemProgram make_system_program(u64 seed, unsigned fragments, unsigned length) {
  Random random(seed);
  SystemProgram program;
  program.fragments = fragments;
  program.instructions = fragments * length;
  const u64 code = (kTable + (u64{fragments} << kFragmentShift) + kPageMask) & ~kPageMask;
  constexpr u64 kNowherePage = 508, kCutPage = 510;
  FragmentMaker maker(random, kSupervisorCode + ((kCutPage + 1) << kPageShift) - 2,
                      kSupervisorCode + (kNowherePage << kPageShift));
  std::vector<Fragment> table;
  for (unsigned n = 0; n < fragments; ++n) {
    const u64 at = 2 * program.code.size();
    program.starts.push_back(program.code.size());
    table.push_back(maker.make(program.code, kSupervisorCode + at, kUserCode + at, length));
    table.back().x[3] = kTable + (u64{n} << kFragmentShift) + offsetof(Fragment, pool);
    program.put(kTable + (u64{n} << kFragmentShift), &table.back(), sizeof(Fragment));
  }
  program.starts.push_back(program.code.size());
  const u64 code_pages = (2 * program.code.size() + kPageMask) >> kPageShift;
  if (code_pages >= kNowherePage) throw std::length_error("too many fragments for their window");

  const std::vector<u32> harness = Harness(code).words();
  if (4 * harness.size() > kState - kBase) throw std::length_error("the harness is too long");
  program.put_all(kBase, harness);
  program.put_all(code, program.code);
  const u16 half = 0x0013;  // of 32 bits
  program.put(code + (code_pages + 1) * kPageSize - 2, &half, sizeof half);
  const u64 none = ~u64{0}, count = fragments;
  program.show(none);
  program.put(kState + kCount, &count, sizeof count);

  const auto set = [&program](u64 table_at, u64 index, u64 value) {
    program.put(table_at + 8 * index, &value, sizeof value);
  };
  const auto index = [](u64 va, unsigned level) { return va >> (kPageShift + 9 * level) & 511; };
  constexpr u64 kFull = kValid | kRead | kWrite | kExecute | kWorn;
  set(kRoot, 0, entry(0, kValid | kRead | kWrite | kWorn));
  set(kRoot, index(kRamBase, 2), entry(kRamBase, kFull));
  set(kRoot, index(kWindow, 2), entry(kMiddle, kValid));
  set(kMiddle, index(kSupervisorCode, 1), entry(kSupervisorLeaf, kValid));
  set(kMiddle, index(kUserCode, 1), entry(kUserLeaf, kValid));
  set(kMiddle, index(kWindow, 1), entry(kDataLeaf, kValid));
  for (u64 page = 0; page < code_pages; ++page) {
    set(kSupervisorLeaf, page, entry(code + (page << kPageShift), kFull));
    set(kUserLeaf, page, entry(code + (page << kPageShift), kFull | kUser));
  }
  set(kSupervisorLeaf, kCutPage, entry(code + (code_pages << kPageShift), kFull));
  set(kSupervisorLeaf, kNowherePage, entry(kNowhere, kFull));
  std::vector<u64> data(kDataPages * kPageSize / 8);
  for (u64& word : data) word = random.next();
  program.put_all(kData, data);
  return program;
}

}  // namespace shinken::test::system
