#include "monitor/machine/hart_state_io.h"

namespace shinken {
namespace {

/// The one list of 64-bit fields and their order, for both directions.
template <typename State, typename Visit>
void visit_words(State& s, Visit&& visit) {
  for (auto& value : s.x) visit(value);
  for (auto& value : s.f) visit(value);
  for (auto* value : {&s.pc, &s.instret, &s.skipped, &s.sstatus, &s.sie, &s.sip_soft, &s.external, &s.stvec,
                      &s.sscratch, &s.sepc, &s.scause, &s.stval, &s.satp, &s.scounteren, &s.senvcfg,
                      &s.stimecmp, &s.fcsr, &s.reservation, &s.hart_id}) {
    visit(*value);
  }
}

constexpr u64 kSatpBare = 0, kSatpSv39 = 8;

}  // namespace

void save_hart(const HartState& state, ByteWriter& to) {
  visit_words(state, [&](const u64& value) { to.put<u64>(value); });
  to.put<u8>(state.mode);
  to.put<u8>(state.waiting);
}

void load_hart(HartState* state, ByteReader& from) {
  visit_words(*state, [&](u64& value) { value = from.get<u64>(); });
  state->mode = from.get<u8>();
  state->waiting = from.get<u8>();
  const u64 satp_mode = state->satp >> 60;
  if (state->x[0] != 0 || state->pc % 2 != 0 || state->mode > 1 || state->waiting > 1 ||
      (satp_mode != kSatpBare && satp_mode != kSatpSv39) || state->external > 1) {
    from.fail();
  }
}

}  // namespace shinken
