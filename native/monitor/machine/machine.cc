#include "monitor/machine/machine.h"

#include <algorithm>
#include <utility>

#include "monitor/base/file.h"
#include "monitor/base/heap.h"
#include "monitor/machine/hart_state_io.h"
#include "monitor/machine/joint.h"
#include "monitor/machine/layout.h"
#include "monitor/machine/loader.h"
#include "monitor/machine/machine_impl.h"
#include "monitor/snapshot/golden_impl.h"

namespace shinken {

Machine::Impl::~Impl() {
  hart.reset();
  board.reset();
}

void Machine::Impl::assemble(std::unique_ptr<MachineMemory> ram, std::shared_ptr<const SharedBlocks> shared) {
  memory = std::move(ram);
  code = std::move(shared);
  board = std::make_unique<Board>(memory.get(), this, disks);
  hart = std::make_unique<Hart>(memory.get(), board.get(), code);
  board->attach(hart.get());
  memory_bytes.store(memory->size());
}

std::vector<u8> Machine::Impl::save_state() const {
  ByteWriter to;
  save_hart(hart->state(), to);
  board->save(to);
  return to.take();
}

bool Machine::Impl::load_state(std::span<const u8> bytes) {
  ByteReader from(bytes);
  load_hart(&hart->state(), from);
  board->load(from);
  return from.ok() && from.at_end();
}

void Machine::Impl::check_at_rest() const {
  if (closed) throw MonitorError(ErrorKind::kClosed, "the machine is closed");
  if (run) throw MonitorError(ErrorKind::kBusy, "the machine is running");
}

bool describe_state(std::span<const u8> state, const std::vector<std::shared_ptr<DiskFile>>& disks,
                    u64* instret, u64* ticks) {
  // A board on the smallest memory: the only reader of this format is the one that forks use.
  Machine::Impl scratch;
  scratch.disks = disks;
  scratch.assemble(make_memory(MemoryKind::kSoft, 1), nullptr);
  if (!scratch.load_state(state)) return false;
  // The same state has the same bytes, or digests would say that two equal machines differ.
  const std::vector<u8> again = scratch.save_state();
  if (!std::equal(again.begin(), again.end(), state.begin(), state.end())) return false;
  *instret = scratch.hart->state().instret;
  *ticks = scratch.time();
  return true;
}

StateParts state_parts(std::span<const u8> state, const std::vector<std::shared_ptr<DiskFile>>& disks) {
  Machine::Impl scratch;
  scratch.disks = disks;
  scratch.assemble(make_memory(MemoryKind::kSoft, 1), nullptr);
  if (!scratch.load_state(state)) {
    throw MonitorError(ErrorKind::kGoldenState, "the device state makes no sense");
  }
  StateParts parts;
  for_each_register(scratch.hart->state(),
                    [&](const std::string& name, u64 value) { parts.registers.emplace_back(name, value); });
  ByteWriter to;
  std::vector<std::pair<std::string, std::size_t>> starts;
  scratch.board->save_parts(to, [&](const std::string& name) { starts.emplace_back(name, to.size()); });
  const std::vector<u8> bytes = to.take();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto at = [&](std::size_t place) { return bytes.begin() + static_cast<std::ptrdiff_t>(place); };
    const std::size_t end = i + 1 < starts.size() ? starts[i + 1].second : bytes.size();
    parts.devices.emplace_back(starts[i].first, std::vector<u8>(at(starts[i].second), at(end)));
  }
  return parts;
}

namespace {

/// About what a machine takes from the heap beside its code: devices and tables of pages.
constexpr u64 kHeapBytes = u64{64} << 10;

void check_mac(const MacAddress& mac) {
  if ((mac[0] & 1) == 0 && mac != MacAddress{}) return;
  throw MonitorError(ErrorKind::kInvalidConfig,
                     "a network card's address is of one station, and not all zeros");
}

}  // namespace

Machine::Machine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Machine::~Machine() = default;

std::shared_ptr<Machine> Machine::create(const MachineConfig& config) {
  if (config.memory_mib < kMinMemoryMiB || config.memory_mib > kMaxMemoryMiB) {
    throw MonitorError(ErrorKind::kInvalidConfig, "memory must be 64 to 4096 MiB");
  }
  if (config.disks.size() > kMaxDisks) throw MonitorError(ErrorKind::kInvalidConfig, "at most 4 disks");
  if (config.bootargs.size() > layout::kMaxBootargs || config.bootargs.find('\0') != std::string::npos) {
    throw MonitorError(ErrorKind::kInvalidConfig, "boot arguments must be at most 2048 bytes without NUL");
  }
  check_mac(config.mac);
  auto impl = std::make_unique<Impl>();
  for (const DiskConfig& disk : config.disks) {
    impl->disks.push_back(DiskFile::open(disk.path, disk.identity, disk.writable));
  }
  const auto program = MappedFile::open(config.program);
  const auto initrd = config.initrd.empty() ? nullptr : MappedFile::open(config.initrd);
  impl->assemble(make_memory(config.memory, config.memory_mib << 20 >> kPageShift), nullptr);
  const Loaded loaded = load_program(*impl->memory, program->bytes());
  DeviceTreeInput tree;
  tree.memory_bytes = impl->memory->size();
  tree.bootargs = config.bootargs;
  tree.rng_seed = config.rng_seed;
  tree.virtio_devices = 1 + static_cast<unsigned>(impl->disks.size());
  HartState& state = impl->hart->state();
  state.hart_id = layout::kHartId;
  state.x[10] = layout::kHartId;
  state.x[11] = load_blobs(*impl->memory, loaded.end, initrd ? initrd->bytes() : std::span<const u8>{},
                           std::move(tree));
  state.pc = loaded.entry;
  state.mode = 1;
  // As firmware leaves it: user programs may read time, cycle and instret (the vDSO's clock does).
  state.scounteren = 7;
  impl->board->generation().set(config.generation_id);
  impl->board->net().set_mac(config.mac);
  impl->hart->reset_caches();
  impl->publish();
  return std::shared_ptr<Machine>(new Machine(std::move(impl)));
}

std::shared_ptr<Machine> Machine::fork(const std::shared_ptr<const Golden>& golden,
                                       const ForkOptions& options) {
  if (options.mac) check_mac(*options.mac);
  Golden::Impl& from = golden->impl();
  auto impl = std::make_unique<Impl>();
  impl->disks = from.disks;
  {
    std::lock_guard lock(from.mutex);
    impl->lineage = from.code;
  }
  impl->assemble(fork_memory(options.memory.value_or(from.image->kind()), from.image), impl->lineage->get());
  impl->grading = options.kind == ForkKind::kGrade;
  if (!impl->load_state(from.state))
    throw MonitorError(ErrorKind::kGoldenState, "the device state makes no sense");
  impl->hart->reset_caches();
  if (options.kind != ForkKind::kGrade && options.kind != ForkKind::kResume) {
    impl->board->generation().renew(options.generation_id);
    if (options.mac) impl->board->net().set_mac(*options.mac);
  }
  impl->publish();
  return std::shared_ptr<Machine>(new Machine(std::move(impl)));
}

RunResult Machine::run(RunRequest request) {
  begin(std::move(request));
  for (;;) {
    const SliceResult result = slice(~u64{0});
    if (result.state == SliceResult::State::kDone) return finish();
    if (result.state == SliceResult::State::kWaiting) wait_outside(result.wait_ns);
  }
}

void Machine::begin(RunRequest request) {
  if (!impl_->joint) return impl_->begin(std::move(request));
  impl_->check_at_rest();
  impl_->joint->begin(*impl_, std::move(request));
}
SliceResult Machine::slice(u64 instructions) {
  return impl_->joint ? impl_->joint->slice(instructions) : impl_->slice(instructions);
}

RunResult Machine::finish() {
  if (!impl_->run || !impl_->run->done) throw MonitorError(ErrorKind::kBusy, "the run has not ended");
  RunResult result;
  {
    const std::lock_guard in_use(impl_->rest);
    result = std::move(impl_->run->result);
    impl_->run.reset();
    if (!impl_->kept.empty()) {
      result.frames.insert(result.frames.begin(), std::make_move_iterator(impl_->kept.begin()),
                           std::make_move_iterator(impl_->kept.end()));
      impl_->kept.clear();
    }
    impl_->kept_bytes = 0;
  }
  // Without our own lock: it takes the others', and another one's finish would take them in another order.
  if (impl_->joint) impl_->joint->finish();
  impl_->running.store(false);
  impl_->realtime.store(false);
  return result;
}

/// A golden of the present state but for the memory.
std::unique_ptr<Golden::Impl> Machine::Impl::golden_parts() const {
  for (const auto& disk : disks) {
    if (disk->writable()) throw MonitorError(ErrorKind::kInvalidConfig, "a machine with a writable disk");
  }
  auto golden = std::make_unique<Golden::Impl>();
  golden->state = save_state();
  golden->instret = hart->state().instret;
  golden->ticks = time();
  golden->disks = disks;
  if (lineage) golden->code = lineage;
  return golden;
}

std::shared_ptr<Golden> Machine::freeze() {
  const std::lock_guard in_use(impl_->rest);
  impl_->check_at_rest();
  auto golden = impl_->golden_parts();
  golden->image = impl_->memory->freeze();
  // Its write translations point into pages that are shared from here on.
  impl_->hart->drop_translations();
  impl_->publish();
  return std::make_shared<Golden>(std::move(golden));
}

bool Machine::freezes_at_once() const {
  return !impl_->closed && impl_->memory->freezes_at_once();
}

std::unique_ptr<LiveSnapshot> Machine::snapshot(const std::shared_ptr<Machine>& machine) {
  Impl& from = *machine->impl_;
  const std::lock_guard in_use(from.rest);
  if (from.closed) throw MonitorError(ErrorKind::kClosed, "the machine is closed");
  if (from.memory->live()) throw MonitorError(ErrorKind::kBusy, "a snapshot is being taken");
  auto golden = from.golden_parts();
  bool voids = false;
  auto memory = from.memory->begin_live(&voids);
  if (voids) {
    from.hart->drop_translations();
    from.publish();
  }
  return std::unique_ptr<LiveSnapshot>(
      new LiveSnapshot(machine, std::move(memory), std::make_shared<Golden>(std::move(golden))));
}

LiveSnapshot::LiveSnapshot(std::shared_ptr<Machine> machine, std::unique_ptr<LiveFreeze> memory,
                           std::shared_ptr<Golden> golden)
    : machine_(std::move(machine)), memory_(std::move(memory)), golden_(std::move(golden)) {}
LiveSnapshot::~LiveSnapshot() = default;

std::shared_ptr<Golden> LiveSnapshot::finish() {
  // Over for the machine, also if it fails.
  const auto machine = std::move(machine_);
  const auto memory = std::move(memory_);
  golden_->impl().image = memory->finish();
  return std::move(golden_);
}

Digest Machine::digest() {
  const std::lock_guard in_use(impl_->rest);
  impl_->check_at_rest();
  const Digest sum = impl_->memory->sum();
  if (impl_->memory->sum_voided()) impl_->hart->drop_write_translations();
  impl_->publish();
  return machine_digest(impl_->save_state(), impl_->memory->pages(), sum);
}

void Machine::share_code_with(Golden& golden) {
  const std::lock_guard in_use(impl_->rest);
  impl_->check_at_rest();
  auto blocks = impl_->hart->share_blocks();
  std::lock_guard lock(golden.impl().mutex);
  // In a place of its own: the golden's former one may serve others, too, whose pages these are not.
  golden.impl().code = std::make_shared<SharedCode>();
  golden.impl().code->set(std::move(blocks));
}

bool Machine::port_open(Port port) const {
  return !impl_->closed && impl_->board->console().open(static_cast<unsigned>(port));
}

void Machine::join(const std::vector<std::shared_ptr<Machine>>& machines) {
  if (machines.size() < 2 || machines.size() > EthernetSwitch::kMaxPorts) {
    throw MonitorError(ErrorKind::kInvalidConfig, "a switch joins 2 to 16 machines");
  }
  for (auto at = machines.begin(); at != machines.end(); ++at) {
    (*at)->impl_->check_at_rest();
    if ((*at)->joined() || std::find(machines.begin(), at, *at) != at) {
      throw MonitorError(ErrorKind::kInvalidConfig, "a machine is joined once");
    }
  }
  const auto joint = std::make_shared<Joint>(machines);
  for (unsigned port = 0; port < machines.size(); ++port) {
    const std::lock_guard in_use(machines[port]->impl_->rest);
    machines[port]->impl_->joint = joint;
    machines[port]->impl_->joint_port = port;
  }
}

void Machine::part() {
  const std::lock_guard in_use(impl_->rest);
  if (!impl_->joint) return;
  impl_->check_at_rest();
  impl_->joint.reset();
}

bool Machine::joined() const {
  return impl_->joint != nullptr;
}

void Machine::set_link(bool up) {
  const std::lock_guard in_use(impl_->rest);
  impl_->check_at_rest();
  impl_->board->net().set_link(up);
  impl_->publish();
}

void Machine::set_console(ConsoleSink sink) {
  impl_->console = std::move(sink);
}

bool Machine::grading() const {
  return impl_->grading;
}

u64 Machine::cache_bytes() const {
  return impl_->closed ? 0 : impl_->hart->code_bytes();
}

bool Machine::drop_caches() {
  const std::unique_lock free(impl_->rest, std::try_to_lock);
  if (!free || impl_->closed || impl_->run || impl_->joint) return false;
  impl_->hart->reset_caches();
  return true;
}

void Machine::close() {
  const std::lock_guard in_use(impl_->rest);
  if (impl_->closed) return;
  impl_->check_at_rest();
  if (impl_->memory->live()) throw MonitorError(ErrorKind::kBusy, "a snapshot is being taken");
  note_freed(kHeapBytes);
  {
    std::lock_guard lock(impl_->mutex);
    impl_->open = false;
    impl_->posted.clear();
    std::fill(std::begin(impl_->posted_bytes), std::end(impl_->posted_bytes), 0);
  }
  impl_->closed = true;
  impl_->joint.reset();
  impl_->seen_dirty.store(0);
  impl_->hart.reset();
  impl_->board.reset();
  impl_->memory.reset();
  impl_->disks.clear();
  impl_->code.reset();
  impl_->lineage.reset();
  impl_->console = nullptr;
}

}  // namespace shinken
