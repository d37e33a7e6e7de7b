import { spawn } from "node:child_process";
import type { FinishingBoot } from "../../../src/images/index.js";

/** A finishing boot on QEMU, to compare with; `counted` makes one instruction one nanosecond of guest time. */
export function qemuBoot(options: { counted?: boolean } = {}): FinishingBoot {
  return (boot) =>
    new Promise((resolve) => {
      const args = [
        ...[
          "-M",
          "virt",
          "-m",
          String(boot.memoryMiB),
          "-display",
          "none",
          "-monitor",
          "none",
          "-serial",
          "stdio",
          "-no-reboot",
        ],
        ...["-kernel", boot.kernel, "-initrd", boot.initrd, "-append", boot.append],
        ...[
          "-drive",
          `file=${boot.disk.path},format=raw,if=none,id=disk,cache=unsafe`,
          "-device",
          "virtio-blk-device,drive=disk",
        ],
        ...(options.counted === true ? ["-icount", "shift=0,sleep=off"] : []),
      ];
      const child = spawn("qemu-system-riscv64", args, { stdio: ["ignore", "pipe", "inherit"] });
      child.stdout.on("data", (chunk: Buffer) => {
        boot.onConsole(chunk.toString("utf8"));
      });
      child.on("error", (error) => {
        resolve({ ok: false, reason: error.message });
      });
      child.on("close", (code) => {
        resolve({ ok: code === 0, reason: `QEMU ended with ${String(code)}` });
      });
    });
}
