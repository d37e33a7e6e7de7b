// Whole machines whose guest does as the input says: loads and stores of every size at the edges of RAM and
// in every device's registers, calls of the firmware, waits, interrupts, jumps. What comes of it can be
// frozen and forked, and a grade fork goes on exactly as the machine does. Input: {flags u8}, then commands
// of {op u8, place u16, value u32}.
#include "fuzz/support/commands.h"
#include "monitor/machine/layout.h"
#include "monitor/machine/machine.h"
#include "monitor/machine/machine_impl.h"
#include "monitor/memory/segments.h"
#include "test/support/assembler.h"
#include "test/support/temp_dir.h"

using namespace shinken;
using namespace shinken::fuzz;
using namespace shinken::test;

namespace {

constexpr u64 kProgram = kRamBase + kProgramOffset, kTable = kProgram + 0x1000, kQueues = kProgram + 0x40000;
constexpr std::size_t kMaxRecords = 400;
constexpr u64 kRecordBytes = 64, kRunInstructions = 8000, kRunTicks = 2'000'000;

// Registers: 9 next record, 18 the first operation, 20 the loop, 13 value, 14 address, 15 operation.
struct Guest {
  std::vector<u8> binary;
  unsigned operations = 0;

  Guest() {
    std::vector<u32> code(8);
    const u32 loop = 4 * static_cast<u32>(code.size());
    const std::vector<u32> fetch = {as::ld(15, 9, 0),   as::ld(14, 9, 8),
                                    as::ld(13, 9, 16),  as::addi(9, 9, kRecordBytes),
                                    as::add(5, 18, 15), as::jalr(0, 5, 0)};
    code.insert(code.end(), fetch.begin(), fetch.end());
    const u32 trap = 4 * static_cast<u32>(code.size());
    code.push_back(as::csrrw(0, kCsrSepc, 20)), code.push_back(as::kSret);
    // After the operations: the arguments of a call are the record's other words.
    const u32 first = 4 * static_cast<u32>(code.size());
    const std::vector<u32> one = {as::kWfi,
                                  as::sb(13, 14, 0),
                                  as::s(0x23, 1, 14, 13, 0),
                                  as::sw(13, 14, 0),
                                  as::sd(13, 14, 0),
                                  as::lb(6, 14, 0),
                                  as::i(0x03, 6, 1, 14, 0),
                                  as::lw(6, 14, 0),
                                  as::ld(6, 14, 0),
                                  as::amoadd_d(6, 13, 14),
                                  as::amoadd_w(6, 13, 14),
                                  as::lr_d(6, 14),
                                  as::sc_d(6, 13, 14),
                                  as::kSfenceVma,
                                  as::kFenceI,
                                  as::csrrw(0, kCsrSie, 13),
                                  as::csrrw(0, kCsrSstatus, 13),
                                  as::csrrw(0, kCsrStimecmp, 13),
                                  as::jalr(1, 14, 0)};
    const u32 call = first + 8 * static_cast<u32>(one.size() + 1);
    operations = static_cast<unsigned>(one.size()) + 1;
    const auto back = [&] {
      code.push_back(as::jal(0, static_cast<i32>(loop) - 4 * static_cast<i32>(code.size())));
    };
    for (u32 word : one) code.push_back(word), back();
    code.push_back(as::jal(0, static_cast<i32>(call) - 4 * static_cast<i32>(code.size()))), back();
    constexpr u32 kArguments[] = {10, 11, 12, 16, 17};
    for (i32 i = 0; i < 5; ++i)
      code.push_back(as::ld(kArguments[i], 9, 8 * i - static_cast<i32>(kRecordBytes) + 24));
    code.push_back(as::kEcall), back();
    // The prologue.
    const auto address = [](u32 rd, u32 at, u32 here) {
      return as::addi(rd, 19, static_cast<i32>(at - here));
    };
    code[0] = as::auipc(19, 0);
    code[1] = as::auipc(9, 1), code[2] = as::addi(9, 9, -4);
    code[3] = address(20, loop, 0), code[4] = address(18, first, 0), code[5] = address(5, trap, 0);
    code[6] = as::csrrw(0, kCsrStvec, 5), code[7] = as::kNop;
    for (u32 word : code)
      for (unsigned i = 0; i < 4; ++i) binary.push_back(static_cast<u8>(word >> 8 * i));
  }
};

const Guest& guest() {
  static const Guest made;
  return made;
}

std::shared_ptr<const Golden> golden() {
  static TempDir dir;
  static const auto made = [] {
    MachineConfig config;
    config.program = dir.write("guest", guest().binary);
    config.memory_mib = kMinMemoryMiB;
    config.disks.push_back({dir.write("disk", std::vector<u8>(64 * 1024, 7)), "fuzz"});
    const auto machine = Machine::create(config);
    // The table is still empty: its zeros are waits, and the first of them is where forks begin.
    machine->run({});
    machine->digest();
    return machine->freeze();
  }();
  return made;
}

/// An address near something of interest.
u64 place(u16 a) {
  constexpr u64 kEnd = kRamBase + (kMinMemoryMiB << 20);
  const u64 offset = a >> 4;
  switch (a & 15) {
    case 0:
      return layout::kPlic + 4 * (offset % 64);
    case 1:
      return layout::kPlic +
             (offset % 2 != 0 ? 0x200000 + 4 * (offset / 2 % 4) : 0x1000 * (1 + offset / 2 % 4));
    case 2:
      return layout::kUart + offset % 16;
    case 3:
    case 4:
      return layout::kVirtio + 4 * (offset % 128);
    case 5:
    case 6:
      return layout::kVirtio + layout::kVirtioStride + 4 * (offset % 128);
    case 7:
    case 8:
      return layout::kNet + 4 * (offset % 128);
    case 9:
      return layout::kGenerationId + offset % 32;
    case 10:
      return layout::kVirtio + offset * 16;
    case 11:
      return kEnd - 16 + offset % 32;
    case 12:
      return kRamBase - 8 + offset % 16;
    case 13:
      return kProgram + 4 * offset;
    default:
      return kQueues + 4 * offset;
  }
}

/// Mostly a small number or an address: a driver writes little else.
u64 amount(u32 b) {
  switch (b >> 30) {
    case 0:
      return b & 0xffff;
    case 1:
      return kQueues + (b & 0xffff);
    case 2:
      return static_cast<u64>(static_cast<i64>(static_cast<i32>(b)) << (b & 31));
    default:
      return place(static_cast<u16>(b));
  }
}

RunRequest bounded(u64 instructions) {
  RunRequest request;
  request.max_instructions = instructions;
  request.max_guest_ticks = kRunTicks;
  return request;
}

/// A stop that a guest may cause; its host's memory is not one of them.
void require_stopped(const RunResult& result, u64 instructions) {
  require(result.reason != StopReason::kHostMemory && result.run_instructions <= instructions);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  constexpr u64 kCalls[] = {0x10, 0x54494d45, 0x53525354, 0x4442434e, 0, 1, 2, 8};
  const auto machine = Machine::fork(golden(), {ForkKind::kReplica, {1}});
  Machine::Impl& inside = *Machine::impl_of(*machine);
  Commands commands(data, size);
  std::vector<u8> table;
  while (table.size() < kMaxRecords * kRecordBytes && commands.next()) {
    const u64 value = amount(commands.b);
    const unsigned op = commands.op % guest().operations;
    // A shutdown ends the input: let it be rare.
    const u64 call = kCalls[commands.a % 8];
    const bool ends = (call == 0x53525354 || call == 8) && commands.op < 200;
    const u64 record[kRecordBytes / 8] = {
        8 * op,          place(commands.a), value, value, place(commands.a >> 4 | commands.a << 12), 0,
        commands.b & 3u, ends ? 0x10 : call};
    table.resize(table.size() + kRecordBytes);
    for (unsigned i = 0; i < kRecordBytes / 8; ++i)
      store_le(&table[table.size() - kRecordBytes + 8 * i], record[i]);
  }
  // The guest stands in its first wait; with an interrupt it goes on, so it is given one.
  require(write_guest(*inside.memory, kTable + kRecordBytes, table.data(), table.size()));
  inside.hart->state().waiting = 0;
  if ((commands.flags & 1) != 0) machine->post_input(Port::kAgent, std::vector<u8>(100, 1));
  if ((commands.flags & 2) != 0) machine->post_console_input(std::vector<u8>(100, 'x'));
  if ((commands.flags & 4) != 0) machine->set_link(false);
  if ((commands.flags & 8) != 0) inside.board->net().receive(1000, std::vector<u8>(60, 1));
  require_stopped(machine->run(bounded(kRunInstructions)), kRunInstructions);

  const auto frozen = machine->freeze();
  const auto twin = Machine::fork(frozen, {ForkKind::kGrade, {}});
  require(twin->digest() == machine->digest() && frozen->digest() == machine->digest());
  for (const auto& one : {machine, twin}) require_stopped(one->run(bounded(1000)), 1000);
  require(twin->digest() == machine->digest());
  return 0;
}
