import { ShinkenError } from "../../errors/index.js";

const signatureMark = Buffer.from("~Module signature appended~\n", "latin1");
/** Size of `struct module_signature`; its last four bytes are the signature's length, big-endian. */
const signatureInfoBytes = 12;

/**
 * Cuts the signature off a kernel module: checking seven of them costs a boot a billion instructions.
 * Format: Linux, include/linux/module_signature.h. A module without a signature comes back as it is.
 */
export function stripSignature(module: Buffer): Buffer {
  const mark = module.length - signatureMark.length;
  if (mark < signatureInfoBytes || !module.subarray(mark).equals(signatureMark)) return module;
  const length = module.readUInt32BE(mark - 4);
  const end = mark - signatureInfoBytes - length;
  if (end <= 0)
    throw new ShinkenError("image_build_failed", "a kernel module's signature is longer than the module");
  return module.subarray(0, end);
}

/** The names in a module's `depends=` entry, in underscore form. */
export function moduleDepends(module: Buffer): string[] {
  const at = module.indexOf("\0depends=", 0, "latin1");
  if (at < 0) return [];
  const start = at + "\0depends=".length;
  const text = module.toString("latin1", start, module.indexOf(0, start));
  return text
    .split(",")
    .filter((name) => name !== "")
    .map(moduleName);
}

/** A module's name as the kernel has it: no folder, no ending, underscores. */
export function moduleName(path: string): string {
  return (path.split("/").pop() ?? path).replace(/\.ko(\.xz|\.zst|\.gz)?$/, "").replaceAll("-", "_");
}

/** The wanted modules in load order: each after what it depends on, else in the order asked for. */
export function loadOrder(wanted: readonly string[], modules: ReadonlyMap<string, Buffer>): string[] {
  const order: string[] = [];
  const visiting = new Set<string>();
  const visit = (name: string): void => {
    if (order.includes(name)) return;
    const module = modules.get(name);
    if (module === undefined)
      throw new ShinkenError("image_build_failed", `the kernel package has no module ${name}`);
    if (visiting.has(name))
      throw new ShinkenError("image_build_failed", `kernel modules depend on each other: ${name}`);
    visiting.add(name);
    for (const dependency of moduleDepends(module)) visit(dependency);
    visiting.delete(name);
    order.push(name);
  };
  for (const name of wanted) visit(name);
  return order;
}
