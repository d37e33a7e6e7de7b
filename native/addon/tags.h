#pragma once
// Type tags: what proves that an object handed in from JavaScript is ours, and which.
#include <napi.h>

#include <optional>

#include "monitor/machine/run.h"

namespace shinken::addon {

inline constexpr napi_type_tag kMachineTag = {0x6f1d2a9be7c44d07, 0x93f0b5c8a1e64b52};
inline constexpr napi_type_tag kGoldenTag = {0x2c8e71d40fb34a6d, 0xb7a94e03d5f81c29};

/// "agent" or "grader"; nothing and a pending TypeError otherwise. Undefined means the agent's.
std::optional<Port> port_of(Napi::Env env, const Napi::Value& value);
const char* port_name(Port port);

}  // namespace shinken::addon
