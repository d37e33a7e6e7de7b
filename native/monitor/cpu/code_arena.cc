#include "monitor/cpu/code_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "monitor/cpu/native_registers.h"
#include "monitor/cpu/tlb.h"

namespace shinken {

namespace {

constexpr u64 kHugePage = u64{2} << 20;

}  // namespace

std::unique_ptr<CodeArena> CodeArena::make(u64 bytes) {
#if defined(__x86_64__) && defined(__linux__)
  const int file = memfd_create("shinken-code", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  void* code = MAP_FAILED;
  void* data = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    code = mmap(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  }
  close(file);
  if (code == MAP_FAILED || data == MAP_FAILED) {
    if (data != MAP_FAILED) munmap(data, bytes);
    if (code != MAP_FAILED) munmap(code, bytes);
    return nullptr;
  }
  std::unique_ptr<CodeArena> arena(new CodeArena(static_cast<u8*>(code), static_cast<u8*>(data), bytes));
  arena->write_routines();
  return arena;
#else
  (void)bytes;
  return nullptr;
#endif
}

std::unique_ptr<CodeArena> CodeArena::make_sealable(u64 bytes) {
#if defined(__x86_64__) && defined(__linux__)
  // Aligned, so that the host can use huge pages from the start.
  bytes = (bytes + kHugePage - 1) & ~(kHugePage - 1);
  void* mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* start = static_cast<u8*>(mapped);
  const u64 before = (0 - reinterpret_cast<std::uintptr_t>(start)) & (kHugePage - 1);
  if (before != 0) munmap(start, before);
  if (before != kHugePage) munmap(start + before + bytes, kHugePage - before);
  madvise(start + before, bytes, MADV_HUGEPAGE);
  std::unique_ptr<CodeArena> arena(new CodeArena(start + before, start + before, bytes));
  arena->write_routines();
  return arena;
#else
  (void)bytes;
  return nullptr;
#endif
}

CodeArena::~CodeArena() {
  if (data_ != code_) munmap(data_, bytes_);
  munmap(code_, bytes_);
}

bool CodeArena::seal() {
  const u64 used = (static_cast<u64>(next_ - code_) + kPageMask) & ~kPageMask;
  if (used != bytes_) munmap(code_ + used, bytes_ - used);
  bytes_ = used;
  return mprotect(code_, bytes_, PROT_READ | PROT_EXEC) == 0;
}

void CodeArena::write_routines() {
  using namespace x86;
  using namespace native;
  Writer w = writer();
  constexpr Reg kSaved[] = {rbx, rbp, r12, r13, r14, r15};
  const auto field = [](std::size_t at) { return static_cast<i32>(at); };

  // A sanitizer looks at what stands before a function that is called through a pointer.
  for (unsigned i = 0; i < 16; ++i) w.byte(0);
  // NativeExit enter(NativeFrame* frame in rdi, code in rsi)
  const u8* enter = w.at();
  for (const Reg reg : kSaved) w.push(reg);
  w.push(rdi);
  w.load(kRemaining, {rdi, field(offsetof(NativeFrame, remaining))});
  w.load(kVirtualPage, {rdi, field(offsetof(NativeFrame, virtual_page))});
  w.load(kState, {rdi, field(offsetof(NativeFrame, state))});
  w.alu_imm(kAdd, true, kState, kStateBias);
  w.load(kData, {rdi, field(offsetof(NativeFrame, data))});
  w.load(kJumps, {rdi, field(offsetof(NativeFrame, jumps))});
  w.jmp(rsi);

  // The result is rax and rdx, as the System V ABI has it for two integers.
  exit_within_ = w.at();
  w.mov_imm(rdx, NativeExit::kWithin);
  const u8* leave = w.jmp(static_cast<const u8*>(nullptr));
  exit_at_ = w.at();
  w.mov_imm(rdx, NativeExit::kAt);
  w.patch(leave, w.at());
  w.pop(rdi);
  w.store({rdi, field(offsetof(NativeFrame, remaining))}, kRemaining);
  w.store({rdi, field(offsetof(NativeFrame, virtual_page))}, kVirtualPage);
  w.store({rdi, field(offsetof(NativeFrame, data))}, kData);
  w.store({rdi, field(offsetof(NativeFrame, jumps))}, kJumps);
  for (unsigned i = std::size(kSaved); i-- > 0;) w.pop(kSaved[i]);
  w.ret();

  // As JUMP_FAR in the interpreter: rax to its block, if the cache of jumps knows a translated one.
  far_ = w.at();
  w.mov32(rcx, rax);
  w.mov32(rdx, rax);
  w.shift_imm(kShr, false, rcx, 1);
  w.shift_imm(kShr, false, rdx, kJumpHashShift);
  w.alu(kXor, false, rcx, rdx);
  w.alu_imm(kAnd, false, rcx, kJumpEntries - 1);
  static_assert(sizeof(JumpEntry) == 1 << 4);
  w.shift_imm(kShl, false, rcx, 4);
  constexpr i32 kEntries = offsetof(JumpCache, entries);
  constexpr Mem kEntryPc = {kJumps, kEntries + static_cast<i32>(offsetof(JumpEntry, pc)), rcx};
  w.rm(kCmp, true, rax, kEntryPc);
  const u8* elsewhere = w.jcc(kNotEqual, nullptr);
  const u8* found = w.at();
  w.load(rdx, {kJumps, kEntries + static_cast<i32>(offsetof(JumpEntry, native)), rcx});
  w.mov(rcx, rdx);
  w.shift_imm(kShr, true, rcx, kEpochShift);
  w.rm(kCmp, true, rcx, {kJumps, static_cast<i32>(offsetof(JumpCache, epoch))});
  w.jcc(kNotEqual, exit_at_);
  constexpr unsigned kAbove = 64 - kEpochShift + 1;  // the epoch and kOwnBlock
  w.shift_imm(kShl, true, rdx, kAbove);
  w.shift_imm(kShr, true, rdx, kAbove);
  w.jcc(kEqual, exit_at_);
  w.alu_imm(kAnd, true, rax, ~static_cast<i32>(kPageMask));
  w.mov(kVirtualPage, rax);
  w.jmp(rdx);
  w.patch(elsewhere, w.at());
  for (unsigned way = 1; way < kJumpWays; ++way) {
    const unsigned step = way ^ (way - 1);
    w.alu_imm(kXor, false, rcx, static_cast<i32>(step * sizeof(JumpEntry)));
    w.rm(kCmp, true, rax, kEntryPc);
    w.jcc(kEqual, found);
  }
  w.jmp(exit_at_);

  for (const bool write : {false, true}) {
    const i32 first = field(write ? offsetof(DataTlb, write) : offsetof(DataTlb, read));
    const i32 second = first + static_cast<i32>(sizeof(TlbEntry));
    const i32 pages = field(write ? offsetof(DataTlb, write_page) : offsetof(DataTlb, read_page));
    refill_[write ? 1 : 0] = w.at();
    w.rm(kCmp, true, rdx, {kData, second + field(offsetof(TlbEntry, tag)), rcx});
    const u8* missed = w.jcc(kNotEqual, nullptr);
    w.rm(kAdd, true, rax, {kData, second + field(offsetof(TlbEntry, addend)), rcx});
    // The ways change places: who comes once comes again.
    constexpr Reg xmm0 = static_cast<Reg>(0), xmm1 = static_cast<Reg>(1);
    w.rm(kMovups, false, xmm0, {kData, first, rcx});
    w.rm(kMovups, false, xmm1, {kData, second, rcx});
    w.rm(kMovupsStore, false, xmm0, {kData, second, rcx});
    w.rm(kMovupsStore, false, xmm1, {kData, first, rcx});
    static_assert(kTlbWays == 2 && sizeof(DataTlb::read_page[0]) == 4);
    w.shift_imm(kShr, false, rcx, kTlbSlotShift - 3);
    w.rm(0xc1, true, static_cast<Reg>(0), {kData, pages, rcx});  // rol qword, imm8
    w.byte(32);
    w.rr(kTest, true, rax, rax);  // never 0
    w.ret();
    w.patch(missed, w.at());
    // What compares with a tag has its lower bits only if the access is misaligned.
    w.rr(kMov, false, rcx, rdx);
    w.alu_imm(kAnd, false, rcx, static_cast<i32>(kPageMask));
    const u8* misaligned = w.jcc(kNotEqual, nullptr);
    constexpr Reg kCallerSaved[] = {rsi, rdi, r8, r9, r10, r11};
    for (const Reg reg : kCallerSaved) w.push(reg);
    // With the return addresses the stack is aligned for the call now: see `enter`.
    static_assert((std::size(kSaved) + 1 + 1 + std::size(kCallerSaved) + 1) % 2 == 1);
    w.push(rax);
    w.load(rdi, {rsp, static_cast<i32>(8 * (std::size(kCallerSaved) + 2))});
    w.mov(rsi, rax);
    w.mov(rdx, kData);
    w.call({rdi, field(write ? offsetof(NativeFrame, refill_write) : offsetof(NativeFrame, refill_read))});
    w.pop(rcx);
    for (unsigned i = std::size(kCallerSaved); i-- > 0;) w.pop(kCallerSaved[i]);
    w.rr(kTest, true, rax, rax);
    w.ret();
    w.patch(misaligned, w.at());
    w.alu(kXor, false, rax, rax);
    w.ret();
  }

  // An object pointer becomes a function pointer only by way of its bits.
  static_assert(sizeof enter_ == sizeof enter);
  std::memcpy(&enter_, &enter, sizeof enter_);
  first_ = next_ = w.at();
}

}  // namespace shinken
