#include "monitor/machine/device_tree.h"

#include <algorithm>
#include <cstdio>

#include "monitor/devices/generation_id.h"
#include "monitor/devices/plic.h"
#include "monitor/devices/uart.h"
#include "monitor/devices/virtio_mmio.h"
#include "monitor/machine/fdt.h"
#include "monitor/machine/layout.h"

namespace shinken {
namespace {

constexpr u32 kCpuInterruptHandle = 1, kPlicHandle = 2;
constexpr u32 kExternalInterrupt = 9;  // supervisor external interrupt, as in scause
constexpr u32 kUartClock = 3686400;

std::string at(const char* name, u64 address) {
  char text[64];
  std::snprintf(text, sizeof text, "%s@%llx", name, static_cast<unsigned long long>(address));
  return text;
}

void write_chosen(FdtWriter& fdt, const DeviceTreeInput& input) {
  fdt.begin_node("chosen");
  fdt.text("bootargs", input.bootargs);
  fdt.text("stdout-path", "/soc/" + at("serial", layout::kUart));
  if (input.initrd_end > input.initrd_begin) {
    fdt.wide("linux,initrd-start", {input.initrd_begin});
    fdt.wide("linux,initrd-end", {input.initrd_end});
  }
  if (std::any_of(input.rng_seed.begin(), input.rng_seed.end(), [](u8 b) { return b != 0; })) {
    fdt.property("rng-seed", input.rng_seed);
  }
  fdt.end_node();
}

void write_cpu(FdtWriter& fdt) {
  fdt.begin_node("cpus");
  fdt.cells("#address-cells", {1});
  fdt.cells("#size-cells", {0});
  fdt.cells("timebase-frequency", {static_cast<u32>(kTicksPerSecond)});
  fdt.begin_node("cpu@0");
  fdt.text("device_type", "cpu");
  fdt.cells("reg", {static_cast<u32>(layout::kHartId)});
  fdt.text("status", "okay");
  fdt.text("compatible", "riscv");
  fdt.text("riscv,isa", "rv64imafdc_zicntr_zicsr_zifencei_sstc");
  fdt.text("riscv,isa-base", "rv64i");
  fdt.texts("riscv,isa-extensions", {"i", "m", "a", "f", "d", "c", "zicntr", "zicsr", "zifencei", "sstc"});
  fdt.text("mmu-type", "riscv,sv39");
  fdt.begin_node("interrupt-controller");
  fdt.cells("#interrupt-cells", {1});
  fdt.empty("interrupt-controller");
  fdt.text("compatible", "riscv,cpu-intc");
  fdt.cells("phandle", {kCpuInterruptHandle});
  fdt.end_node();
  fdt.end_node();
  fdt.end_node();
}

void write_virtio(FdtWriter& fdt, u64 base, u32 irq) {
  fdt.begin_node(at("virtio_mmio", base));
  fdt.text("compatible", "virtio,mmio");
  fdt.wide("reg", {base, VirtioMmio::kWindow});
  fdt.cells("interrupts", {irq});
  fdt.end_node();
}

void write_soc(FdtWriter& fdt, unsigned virtio_devices) {
  fdt.begin_node("soc");
  fdt.cells("#address-cells", {2});
  fdt.cells("#size-cells", {2});
  fdt.text("compatible", "simple-bus");
  fdt.empty("ranges");
  fdt.cells("interrupt-parent", {kPlicHandle});

  fdt.begin_node(at("interrupt-controller", layout::kPlic));
  fdt.texts("compatible", {"sifive,plic-1.0.0", "riscv,plic0"});
  fdt.wide("reg", {layout::kPlic, Plic::kWindow});
  fdt.cells("#address-cells", {0});
  fdt.cells("#interrupt-cells", {1});
  fdt.empty("interrupt-controller");
  fdt.cells("interrupts-extended", {kCpuInterruptHandle, kExternalInterrupt});
  fdt.cells("riscv,ndev", {Plic::kSources - 1});
  fdt.cells("phandle", {kPlicHandle});
  fdt.end_node();

  fdt.begin_node(at("serial", layout::kUart));
  fdt.text("compatible", "ns16550a");
  fdt.wide("reg", {layout::kUart, Uart::kWindow});
  fdt.cells("interrupts", {layout::kUartIrq});
  fdt.cells("clock-frequency", {kUartClock});
  fdt.end_node();

  for (unsigned i = 0; i < virtio_devices; ++i) {
    write_virtio(fdt, layout::kVirtio + i * layout::kVirtioStride, layout::kVirtioIrq + i);
  }
  write_virtio(fdt, layout::kNet, layout::kNetIrq);

  fdt.begin_node(at("rng", layout::kGenerationId));
  fdt.text("compatible", "microsoft,vmgenid");
  fdt.wide("reg", {layout::kGenerationId, GenerationId::kWindow});
  fdt.cells("interrupts", {layout::kGenerationIrq});
  fdt.end_node();
  fdt.end_node();
}

}  // namespace

std::vector<u8> build_device_tree(const DeviceTreeInput& input) {
  FdtWriter fdt;
  fdt.begin_node("");
  fdt.cells("#address-cells", {2});
  fdt.cells("#size-cells", {2});
  fdt.text("compatible", "shinken,rv64");
  fdt.text("model", "shinken,rv64");
  write_chosen(fdt, input);
  fdt.begin_node(at("memory", kRamBase));
  fdt.text("device_type", "memory");
  fdt.wide("reg", {kRamBase, input.memory_bytes});
  fdt.end_node();
  write_cpu(fdt);
  write_soc(fdt, input.virtio_devices);
  fdt.end_node();
  return fdt.finish();
}

}  // namespace shinken
