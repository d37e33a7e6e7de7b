#pragma once
// Memory for translated blocks, mapped twice: where it executes it cannot be written, where it is written it
// cannot execute. It begins with the few routines that lead from the interpreter into translated code and
// back.
#include <memory>

#include "monitor/base/types.h"
#include "monitor/cpu/x86_writer.h"

namespace shinken {

class Core;
struct DataTlb;
struct HartState;
struct JumpCache;

/// What translated code works on; `remaining`, `virtual_page`, `data` and `jumps` are up to date when it
/// returns.
struct NativeFrame {
  u64 remaining;     // instructions until the loop must look around
  u64 virtual_page;  // address of the page that executes
  HartState* state;
  DataTlb* data;
  JumpCache* jumps;
  u64 quiet;                  // not 0: setting SIE would make no interrupt due
  u64 clock;                  // what `time` reads once `remaining` is 0
  DataTlb* contexts[3];       // by TlbContext
  JumpCache* jump_caches[2];  // by mode
  Core* core;
  /// Host address of an aligned access to RAM that both ways of the TLB missed, or 0: then it is the
  /// interpreter's. Nothing that executes in between is affected, nor what was looked up for it.
  u64 (*refill_read)(NativeFrame*, u64 va, DataTlb*);
  u64 (*refill_write)(NativeFrame*, u64 va, DataTlb*);
};

/// Why translated code returned.
struct NativeExit {
  enum Kind : u64 {
    kAt,      // execution goes on at the address `value`
    kWithin,  // at the operation `value` >> 16 of the block with the index entry `value` & 0xffff, of which
              // nothing was counted yet
  };
  u64 value;
  u64 kind;
};

class CodeArena {
 public:
  /// Null where the host is no x86-64 or refuses executable memory.
  static std::unique_ptr<CodeArena> make(u64 bytes);
  /// For code that is written once and then only executes, in huge pages if the host has them: nothing
  /// executes before `seal`.
  static std::unique_ptr<CodeArena> make_sealable(u64 bytes);
  ~CodeArena();
  CodeArena(const CodeArena&) = delete;
  CodeArena& operator=(const CodeArena&) = delete;

  NativeExit enter(NativeFrame* frame, const u8* code) const { return enter_(frame, code); }
  /// Addresses are those where the code executes.
  const u8* next() const { return next_; }
  x86::Writer writer() const { return {next_, code_ + bytes_, alias_}; }
  void take(const u8* upto) { next_ = upto; }
  bool has_room(const u8* from, u64 bytes) const { return static_cast<u64>(code_ + bytes_ - from) >= bytes; }
  u64 used() const { return static_cast<u64>(next_ - code_); }
  /// Forgets all translations.
  void reset() { next_ = first_; }
  /// Gives the unused memory back and makes the rest executable instead of writable. False if the host
  /// refuses.
  bool seal();
  /// Where translated code leaves to, with rax set: see `NativeExit`; `far` looks rax up among the known
  /// jumps.
  const u8* exit_within() const { return exit_within_; }
  const u8* far() const { return far_; }
  /// To be called where the first way of the TLB missed, with the address in rax, the offset of its entry in
  /// rcx and what was compared with the tag in rdx. Comes back with the host address in rax, or with ZF set.
  const u8* refill(bool write) const { return refill_[write ? 1 : 0]; }

 private:
  CodeArena(u8* code, u8* data, u64 bytes)
      : code_(code), data_(data), bytes_(bytes), alias_(data - code), first_(code), next_(code) {}
  void write_routines();

  u8* code_;  // executable
  u8* data_;  // the same memory, writable; of a sealable arena the same address
  u64 bytes_;
  i64 alias_;
  const u8* first_;  // after the routines
  const u8* next_;
  NativeExit (*enter_)(NativeFrame*, const u8*) = nullptr;
  const u8* exit_at_ = nullptr;
  const u8* exit_within_ = nullptr;
  const u8* far_ = nullptr;
  const u8* refill_[2] = {};
};

}  // namespace shinken
