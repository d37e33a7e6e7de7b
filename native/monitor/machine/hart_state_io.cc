#include "monitor/machine/hart_state_io.h"

namespace shinken {
namespace {

/// The one list of 64-bit fields after x and f, their order and their names.
struct Word {
  const char* name;
  u64 HartState::* field;
};
constexpr Word kWords[] = {
    {"pc", &HartState::pc},
    {"instret", &HartState::instret},
    {"skipped", &HartState::skipped},
    {"sstatus", &HartState::sstatus},
    {"sie", &HartState::sie},
    {"sip", &HartState::sip_soft},
    {"external", &HartState::external},
    {"stvec", &HartState::stvec},
    {"sscratch", &HartState::sscratch},
    {"sepc", &HartState::sepc},
    {"scause", &HartState::scause},
    {"stval", &HartState::stval},
    {"satp", &HartState::satp},
    {"scounteren", &HartState::scounteren},
    {"senvcfg", &HartState::senvcfg},
    {"stimecmp", &HartState::stimecmp},
    {"fcsr", &HartState::fcsr},
    {"reservation", &HartState::reservation},
    {"hart_id", &HartState::hart_id},
};

template <typename State, typename Visit>
void visit_words(State& s, Visit&& visit) {
  for (auto& value : s.x) visit(value);
  for (auto& value : s.f) visit(value);
  for (const Word& word : kWords) visit(s.*word.field);
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

void for_each_register(const HartState& state,
                       const std::function<void(const std::string& name, u64 value)>& visit) {
  for (unsigned i = 0; i < 32; ++i) visit("x" + std::to_string(i), state.x[i]);
  for (unsigned i = 0; i < 32; ++i) visit("f" + std::to_string(i), state.f[i]);
  for (const Word& word : kWords) visit(word.name, state.*word.field);
  visit("mode", state.mode);
  visit("waiting", state.waiting);
}

}  // namespace shinken
