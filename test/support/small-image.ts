/**
 * A small image of a test's own, with the kernel and initial root of the test image: its root holds a shell, a few programs and
 * what the test adds, and it boots in a moment.
 */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../src/images/files.js";
import { openImage } from "../../src/images/index.js";
import { formatJson, readManifest } from "../../src/images/manifest.js";
import type { Sandbox } from "../../src/sandbox/sandbox.js";
import { erofs, type ErofsFile } from "./erofs.js";
import { TEST_IMAGE } from "./machine.js";

/** Programs of the small image, and what they load. */
const programs: Readonly<Record<string, string>> = {
  "bin/sh": "/usr/bin/dash",
  "lib/ld-linux-riscv64-lp64d.so.1": "/usr/lib/ld-linux-riscv64-lp64d.so.1",
  "lib/riscv64-linux-gnu/libc.so.6": "/usr/lib/riscv64-linux-gnu/libc.so.6",
  ...Object.fromEntries(
    ["true", "cat", "sleep", "wc", "setsid"].map((name) => [`bin/${name}`, `/usr/bin/${name}`]),
  ),
};

/** Folders that init and the agent mount on or write to. */
const folders = ["dev", "etc", "home", "mnt", "proc", "root", "run", "srv", "sys", "tmp", "usr", "var"];

/**
 * Builds the image in `cacheDir` under the name. `from` is a machine of the test image, whose programs are copied.
 */
export async function buildSmallImage(
  cacheDir: string,
  name: string,
  from: Sandbox,
  files: Readonly<Record<string, ErofsFile>>,
): Promise<void> {
  const whole: Record<string, ErofsFile> = {
    "etc/passwd": { data: "root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\n" },
    "etc/group": { data: "root:x:0:\nagent:x:1000:\n" },
    "etc/machine-id": { data: "" },
    ...files,
  };
  for (const folder of folders) whole[`${folder}/`] ??= { data: "" };
  for (const [path, source] of Object.entries(programs))
    whole[path] = { data: await from.readFile(source, { limit: 16 << 20 }), mode: 0o755 };
  const root = erofs(whole);
  const base = openImage(TEST_IMAGE);
  const manifest = readManifest(base.manifest);
  const record = { sha256: sha256(root), size: root.length };
  const sums = { ...manifest.files, root: record };
  const digest = sha256(
    JSON.stringify([sums.kernel.sha256, sums.initrd.sha256, record.sha256, manifest.appendBase]),
  );
  const folder = join(cacheDir, "images", digest);
  mkdirSync(folder, { recursive: true });
  copyFileSync(base.kernel, join(folder, "kernel"));
  writeFileSync(join(folder, "initrd"), readFileSync(base.initrd));
  writeFileSync(join(folder, "root.erofs"), root);
  writeFileSync(
    join(folder, "manifest.json"),
    formatJson({ ...manifest, name, digest, rootKey: record.sha256, packages: [], files: sums }),
  );
  mkdirSync(join(cacheDir, "images", "by-name"), { recursive: true });
  symlinkSync(join("..", digest), join(cacheDir, "images", "by-name", name));
}
