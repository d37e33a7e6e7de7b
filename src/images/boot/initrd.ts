import { CpioWriter } from "../root/cpio.js";

/** Device numbers of /dev/console (kernel documentation, "Linux allocated devices"). */
const consoleDevice = { major: 5, minor: 1 } as const;

/**
 * The initial root of every machine: the agent as /init, the modules and their order, /dev/console, and the empty
 * folders that init mounts on. Uncompressed, a few megabytes; the same inputs give the same bytes.
 */
export async function buildInitrd(
  agent: Uint8Array,
  modules: readonly { name: string; data: Uint8Array }[],
  mtime: number,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const cpio = new CpioWriter((piece) => {
    pieces.push(Buffer.from(piece));
    return Promise.resolve();
  });
  const owner = { uid: 0, gid: 0, mtime };
  for (const path of [".", "dev", "modules", "proc", "sys"]) {
    await cpio.add({ ...owner, path, type: "directory", mode: 0o755 });
  }
  await cpio.add({ ...owner, path: "dev/console", type: "char", mode: 0o600, ...consoleDevice });
  await cpio.add({ ...owner, path: "init", type: "file", mode: 0o755, data: agent });
  const order = modules.map((module) => `${module.name}.ko\n`).join("");
  await cpio.add({ ...owner, path: "modules/order", type: "file", mode: 0o644, data: Buffer.from(order) });
  for (const module of modules) {
    await cpio.add({
      ...owner,
      path: `modules/${module.name}.ko`,
      type: "file",
      mode: 0o644,
      data: module.data,
    });
  }
  await cpio.finish();
  return Buffer.concat(pieces);
}
