#pragma once
// Machine configurations out of JavaScript objects.
#include <napi.h>

#include <optional>
#include <string>
#include <vector>

#include "monitor/machine/config.h"

namespace shinken::addon {

class Options;

inline constexpr size_t kMaxPath = 4095;

/// An array of `{path, identity?, writable?}`, or undefined for none.
std::optional<std::vector<DiskConfig>> disks_of(Napi::Env env, const Napi::Value& value, const char* what);

/// The option `memory`: "soft" or "uffd"; nothing if it is absent and `fallback` is empty, or wrong.
std::optional<MemoryKind> memory_kind(Options& options, const char* fallback);

/// `bootMachine({memoryMiB?, program, initrd?, bootargs?, disks?, rngSeed?, generationId?, mac?, memory?})`.
Napi::Value boot_machine(const Napi::CallbackInfo& info);

}  // namespace shinken::addon
