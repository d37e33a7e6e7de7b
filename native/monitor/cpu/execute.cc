// The execution loop: threaded code over decoded blocks.
#if defined(__GNUC__) && !defined(__clang__)
// One dispatch jump per handler, so that the host predicts them apart; and no register spent on a frame.
#pragma GCC optimize("no-crossjumping", "no-gcse", "omit-frame-pointer")
#endif
#include <cstring>
#include <iterator>

#include "monitor/cpu/core.h"
#include "monitor/cpu/decode.h"
#include "monitor/float/soft_float.h"

namespace shinken {

namespace {

/// Longest stretch between two looks at the exit request; `Hart::request_exit` promises it.
constexpr u64 kSlice = u64{1} << 14;

inline bool likely(bool condition) {
  return __builtin_expect(condition, 1);
}
inline bool unlikely(bool condition) {
  return __builtin_expect(condition, 0);
}

template <class T>
T load_host(u64 address) {
  T value;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a TLB entry holds host minus guest address.
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
template <class T>
void store_host(u64 address, T value) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): as in load_host.
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

/// The page part of an address, plus the bits that must be zero in an aligned one: compared with a TLB tag at
/// once.
template <class T>
u64 tag_of(u64 va) {
  return va & (~kPageMask | (sizeof(T) - 1));
}

u64 sext32(u64 value) {
  return static_cast<u64>(static_cast<i64>(static_cast<i32>(value)));
}

u64 multiply_high_signed(u64 a, u64 b) {
  return static_cast<u64>(static_cast<__int128>(static_cast<i64>(a)) * static_cast<i64>(b) >> 64);
}
u64 multiply_high_unsigned(u64 a, u64 b) {
  return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64);
}
u64 multiply_high_mixed(u64 a, u64 b) {
  return multiply_high_unsigned(a, b) - (static_cast<i64>(a) < 0 ? b : 0);
}

/// Division by zero and overflow have results, not traps.
template <class T>
T divide_signed(T a, T b) {
  if (b == 0) return -1;
  if (b == -1) return static_cast<T>(0 - static_cast<u64>(a));
  return a / b;
}
template <class T>
T remainder_signed(T a, T b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  return a % b;
}
template <class T>
T divide_unsigned(T a, T b) {
  return b == 0 ? static_cast<T>(-1) : a / b;
}
template <class T>
T remainder_unsigned(T a, T b) {
  return b == 0 ? a : a % b;
}

constexpr u64 kBox = 0xffffffff00000000;
u64 unbox(u64 value) {
  return value >= kBox ? value & 0xffffffff : fp::F32::canonical_nan;
}
u64 box(u64 value) {
  return value | kBox;
}

}  // namespace

HartExit Core::run(u64 limit) {
  tlb_ = &thread_tlb();
  claim_tlb();
  const HartExit exit = loop(limit);
  release_tlb();
  return exit;
}

// GCC keeps one dispatch jump per handler (its branches are then predicted apart) only without cross-jumping.
HartExit Core::loop(u64 limit) {
  static const void* const labels[] = {// in the order of OpCode
#define SHINKEN_LABEL(name) &&L_##name,
#define SHINKEN_LABEL_PAIR(first, second) &&L_##first##_##second,
                                       SHINKEN_OPS(SHINKEN_LABEL) SHINKEN_PAIRS(SHINKEN_LABEL_PAIR)
#undef SHINKEN_LABEL
#undef SHINKEN_LABEL_PAIR
  };

  u64* const x = s.x;
  const Op* op = nullptr;
  const BlockHeader* blk = nullptr;
  const CodePage* page = nullptr;
  const FetchEntry* fetch = nullptr;
  JumpCache* jumps = nullptr;
  DataTlb* data = nullptr;
  u64 block_pc = 0;
  u64 remaining = 0;
  u64 pc = 0;
  NativeFrame frame{};
  frame.state = &s;
  frame.core = this;
  for (unsigned i = 0; i < std::size(frame.contexts); ++i) frame.contexts[i] = &tlb_->data[i];
  for (unsigned i = 0; i < std::size(frame.jump_caches); ++i) frame.jump_caches[i] = &tlb_->jumps[i];
  frame.refill_read = [](NativeFrame* of, u64 va, DataTlb* table) {
    return of->core->refill(va, false, table);
  };
  frame.refill_write = [](NativeFrame* of, u64 va, DataTlb* table) {
    return of->core->refill(va, true, table);
  };

// The compiler must keep the value as it is: left to itself it derives it anew at every use.
#define OPAQUE(variable) asm("" : "+r"(variable))
#define DISPATCH() goto* labels[static_cast<unsigned>(op->code)]
#define NEXT()  \
  do {          \
    ++op;       \
    DISPATCH(); \
  } while (0)
#define HANDLER(name) L_##name:
#define IMM static_cast<u64>(static_cast<i64>(op->imm))
#define RS1 x[op->b]
#define RS2 x[static_cast<u32>(op->imm)]
#define RD x[op->a]
// Before anything that may need the exact place: a trap, a device, a dropped block.
#define HERE() (where_ = {blk, op, block_pc, remaining, page}, synced_ = false)
// The same and sync() in one, for a four-byte instruction that ends its block: nothing has to be counted.
#define HERE_AT_END()                                  \
  do {                                                 \
    where_ = {blk, op, block_pc, remaining, page};     \
    synced_ = true;                                    \
    length_ = 4;                                       \
    s.pc = block_pc + blk->bytes - 4;                  \
    s.instret = stop_ - remaining + (blk->count - 1u); \
  } while (0)
#define START_BLOCK()                                 \
  do {                                                \
    if (unlikely(remaining < blk->count)) goto split; \
    if (blk->native != nullptr) goto native;          \
    if (unlikely(--heat_ == 0)) goto heated;          \
    op = operations_of(blk);                          \
    DISPATCH();                                       \
  } while (0)
#define JUMP(target) \
  do {               \
    pc = (target);   \
    goto next_block; \
  } while (0)
// The same for jumps that mostly lead out of the page: no detour on the likely way.
#define JUMP_FAR(target)                                   \
  do {                                                     \
    pc = (target);                                         \
    const unsigned slot = jumps->slot_of(pc);              \
    if (unlikely(!jumps->knows(slot, pc))) goto far_block; \
    const JumpBlock& known = jumps->blocks[slot];          \
    page = known.page;                                     \
    blk = known.block;                                     \
    block_pc = pc;                                         \
    START_BLOCK();                                         \
  } while (0)
#define JUMP_LINKED(entry)                                       \
  do {                                                           \
    blk = reinterpret_cast<const BlockHeader*>(page->at(entry)); \
    block_pc = (block_pc & ~kPageMask) | blk->offset;            \
    pc = block_pc;                                               \
    START_BLOCK();                                               \
  } while (0)

boundary:
  // s.pc and s.instret are exact, and nothing here points into decoded code.
  graveyard_.clear();
  shared_graveyard_.clear();
  break_block_ = false;
  synced_ = true;
  if (unlikely(exit_requested_.load(std::memory_order_relaxed)) && exit_requested_.exchange(false)) {
    return HartExit::kRequested;
  }
  if (s.waiting) {
    if (!wait_is_over()) return HartExit::kWaiting;
    s.waiting = 0;
  }
  if (s.instret >= limit) return HartExit::kLimit;
  take_interrupt_if_due();
  stop_ = next_stop(limit, kSlice);
  remaining = stop_ - s.instret;
  frame.clock = stop_ + s.skipped;
  frame.quiet = nothing_is_due();
  data = data_ = &tlb_->data[static_cast<unsigned>(data_context())];
  OPAQUE(data);
  fetch = tlb_->fetch[s.mode];
  jumps = &tlb_->jumps[s.mode];
  OPAQUE(jumps);
  pc = s.pc & ~u64{1};
  goto far_block;

next_block: {
  if (unlikely(((pc ^ block_pc) & ~kPageMask) != 0)) goto far_block;
  const u16 entry = page->index[(pc & kPageMask) >> 1];
  if (unlikely(entry == 0)) goto undecoded;
  blk = reinterpret_cast<const BlockHeader*>(page->at(entry));
  goto enter;
}

link_block: {
  // The jump at `op` leads to `pc` in the same page: next time it goes there directly, if it is ours to
  // change.
  const u16 entry = page->index[(pc & kPageMask) >> 1];
  if (unlikely(entry == 0)) goto undecoded;
  if (page->owns(op)) set_link(const_cast<Op&>(*op), entry);
  blk = reinterpret_cast<const BlockHeader*>(page->at(entry));
  goto enter;
}

far_block: {
  const FetchEntry& cached = fetch[fetch_slot(pc)];
  if (likely(cached.tag == (pc & ~kPageMask))) {
    page = cached.code;
  } else {
    s.pc = pc;
    s.instret = stop_ - remaining;
    synced_ = true;
    if (remaining == 0) goto boundary;
    page = fetch_page(pc);
    if (page == nullptr) goto boundary;
  }
  const u16 entry = page->index[(pc & kPageMask) >> 1];
  if (unlikely(entry == 0)) goto undecoded;
  blk = reinterpret_cast<const BlockHeader*>(page->at(entry));
  jumps->note(pc, blk, page, cached.own);
}

enter:
  block_pc = pc;
  START_BLOCK();

heated:
  s.pc = block_pc;
  s.instret = stop_ - remaining;
  synced_ = true;
  note_hot_page(page);
  START_BLOCK();

native: {
  frame.remaining = remaining;
  frame.virtual_page = block_pc & ~kPageMask;
  frame.data = data;
  frame.jumps = jumps;
  const NativeExit exit = entrance_->enter(&frame, blk->native);
  remaining = frame.remaining;
  data = data_ = frame.data;
  OPAQUE(data);
  jumps = frame.jumps;
  OPAQUE(jumps);
  fetch = tlb_->fetch[s.mode];
  if (exit.kind == NativeExit::kAt) JUMP_FAR(exit.value);
  const FetchEntry& executing = fetch[fetch_slot(frame.virtual_page)];
  page = likely(executing.tag == frame.virtual_page) ? executing.code : executing_page(frame.virtual_page);
  blk = reinterpret_cast<const BlockHeader*>(page->at(static_cast<u16>(exit.value)));
  block_pc = pc = frame.virtual_page | blk->offset;
  remaining += blk->count;
  if (unlikely(remaining < blk->count)) goto split;
  op = operations_of(blk) + (exit.value >> 16);
  DISPATCH();
}

undecoded:
  s.pc = pc;
  s.instret = stop_ - remaining;
  synced_ = true;
  if (remaining == 0) goto boundary;
  page = decode_at(pc);
  if (page == nullptr) goto boundary;
  blk = reinterpret_cast<const BlockHeader*>(page->at(page->index[(pc & kPageMask) >> 1]));
  goto enter;

split:
  if (remaining == 0) {
    s.pc = pc;
    s.instret = stop_;
    goto boundary;
  }
  // The limit lies within the block: run only its beginning.
  decode_block(page->bytes, blk->offset, static_cast<unsigned>(remaining), scratch_);
  blk = reinterpret_cast<const BlockHeader*>(scratch_);
  op = scratch_ + kHeaderSlots;
  DISPATCH();

finish_op:
  // The instruction is complete, but the block must not go on.
  sync();
  s.pc += length_;
  ++s.instret;
  goto boundary;

illegal:
  HERE();
  sync();
  raise(kIllegalInstruction, current_raw());
  goto boundary;

  // clang-format off: in this order, later files use what earlier ones define
#include "monitor/cpu/execute_integer.inc"
#include "monitor/cpu/execute_memory.inc"
#include "monitor/cpu/execute_float.inc"
#include "monitor/cpu/execute_control.inc"
#include "monitor/cpu/execute_pairs.inc"
  // clang-format on
}

}  // namespace shinken
