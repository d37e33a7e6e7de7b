#include "addon/config.h"

#include <algorithm>
#include <utility>

#include "addon/environment.h"
#include "addon/machine_object.h"
#include "addon/options.h"

namespace shinken::addon {
namespace {

/// The kernel's own limit for riscv64 (COMMAND_LINE_SIZE), less its terminator.
constexpr size_t kMaxBootargs = 1023;
constexpr size_t kMaxIdentity = 64;

}  // namespace

std::optional<std::vector<DiskConfig>> disks_of(Napi::Env env, const Napi::Value& value, const char* what) {
  std::vector<DiskConfig> disks;
  if (value.IsUndefined()) return disks;
  if (!value.IsArray() || value.As<Napi::Array>().Length() > kMaxDisks) {
    throw_type(env, std::string(what) + ": `disks` must be an array of at most " + std::to_string(kMaxDisks));
    return std::nullopt;
  }
  const Napi::Array array = value.As<Napi::Array>();
  for (u32 i = 0; i < array.Length(); i++) {
    const std::string name = std::string(what) + ": disks[" + std::to_string(i) + "]";
    Options options(env, array.Get(i), name.c_str(), {"path", "identity", "writable"});
    DiskConfig disk;
    disk.path = options.text("path", kMaxPath, "");
    disk.identity = options.text("identity", kMaxIdentity, "");
    disk.writable = options.boolean("writable", false);
    if (!options.ok()) return std::nullopt;
    if (disk.path.empty()) {
      throw_type(env, name + ": `path` must be given");
      return std::nullopt;
    }
    disks.push_back(std::move(disk));
  }
  return disks;
}

std::optional<MemoryKind> memory_kind(Options& options, const char* fallback) {
  const std::string name = options.text("memory", 8, fallback);
  if (name == "soft") return MemoryKind::kSoft;
  if (name == "uffd") return MemoryKind::kMap;
  if (!name.empty()) options.refuse("memory", "\"soft\" or \"uffd\"");
  return std::nullopt;
}

Napi::Value boot_machine(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Options options(
      env, info[0], "bootMachine",
      {"memoryMiB", "program", "initrd", "bootargs", "disks", "rngSeed", "generationId", "mac", "memory"});
  MachineConfig config;
  config.memory_mib = options.integer("memoryMiB", kMinMemoryMiB, kMaxMemoryMiB, kDefaultMemoryMiB);
  config.program = options.text("program", kMaxPath, "");
  config.initrd = options.text("initrd", kMaxPath, "");
  config.bootargs = options.text("bootargs", kMaxBootargs, "");
  const auto seed = options.bytes("rngSeed", config.rng_seed.size(), config.rng_seed.size());
  const auto generation =
      options.bytes("generationId", config.generation_id.size(), config.generation_id.size());
  const auto mac = options.bytes("mac", config.mac.size(), config.mac.size());
  const auto memory = memory_kind(options, "soft");
  if (!options.ok()) return env.Undefined();
  config.memory = memory.value_or(MemoryKind::kSoft);
  std::copy(mac.begin(), mac.end(), config.mac.begin());
  std::copy(seed.begin(), seed.end(), config.rng_seed.begin());
  std::copy(generation.begin(), generation.end(), config.generation_id.begin());
  auto disks = disks_of(env, info[0].As<Napi::Object>().Get("disks"), "bootMachine");
  if (!disks) return env.Undefined();
  config.disks = std::move(*disks);
  if (config.program.empty()) {
    throw_type(env, "bootMachine: `program` must be given");
    return env.Undefined();
  }
  auto machine = std::make_shared<std::shared_ptr<Machine>>();
  return Environment::of(env)->async(
      env, [machine, config] { *machine = Machine::create(config); },
      [machine](Napi::Env env) { return MachineObject::wrap(env, std::move(*machine)); });
}

}  // namespace shinken::addon
