#pragma once
// The hart's state as bytes, in goldens and digests.
#include "monitor/base/bytes.h"
#include "monitor/cpu/hart.h"

namespace shinken {

void save_hart(const HartState& state, ByteWriter& to);
/// Rejects values that no hart can have (`from.fail()`).
void load_hart(HartState* state, ByteReader& from);

}  // namespace shinken
