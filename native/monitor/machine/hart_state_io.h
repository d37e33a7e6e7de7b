#pragma once
// The hart's state as bytes, in goldens and digests.
#include <functional>
#include <string>

#include "monitor/base/bytes.h"
#include "monitor/cpu/hart.h"

namespace shinken {

void save_hart(const HartState& state, ByteWriter& to);
/// Rejects values that no hart can have (`from.fail()`).
void load_hart(HartState* state, ByteReader& from);
/// For people: each value that `save_hart` writes, in that order: x0 to f31, pc, control registers by their
/// names.
void for_each_register(const HartState& state,
                       const std::function<void(const std::string& name, u64 value)>& visit);

}  // namespace shinken
