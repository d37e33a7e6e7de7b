import { ShinkenError } from "../../errors/index.js";
import { readData } from "../deb/package.js";
import { stripSymbols } from "./strip_symbols.js";
import { run, stream } from "../process.js";
import { loadOrder, moduleDepends, moduleName, stripSignature } from "./modules.js";

export interface KernelParts {
  /** The flat Image as the bootloader would enter it. */
  image: Buffer;
  /** Modules without signatures and spare symbols, in load order. */
  modules: { name: string; data: Buffer }[];
}

/** Magic at offset 56 of a RISC-V Image (kernel documentation, "Boot image header in RISC-V Linux"). */
const imageMagic = "RSC\x05";
const imageMagicOffset = 56;

async function unpackModule(path: string, data: Buffer): Promise<Buffer> {
  if (path.endsWith(".ko")) return data;
  if (!path.endsWith(".ko.xz"))
    throw new ShinkenError("image_build_failed", `${path}: unknown compression of a module`);
  const pieces: Buffer[] = [];
  for await (const piece of stream("xz", ["--decompress", "--stdout"], data)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/**
 * Takes the kernel and the wanted modules, with what they depend on, out of a linux-image package.
 * Throws `image_build_failed` if one is missing.
 */
export async function readKernel(deb: string, wanted: readonly string[]): Promise<KernelParts> {
  let image: Buffer | undefined;
  const packed = new Map<string, { path: string; data: Buffer }>();
  for await (const entry of readData(deb)) {
    if (entry.type !== "file") continue;
    if (/^\.\/boot\/vmlinu[xz]-/.test(entry.name)) image = Buffer.from(entry.data);
    // A copy, so that the chunk that the small member lies in can go.
    else if (/\.ko(\.\w+)?$/.test(entry.name))
      packed.set(moduleName(entry.name), { path: entry.name, data: Buffer.from(entry.data) });
  }
  if (image?.toString("latin1", imageMagicOffset, imageMagicOffset + 4) !== imageMagic) {
    throw new ShinkenError("image_build_failed", "the kernel package holds no flat RISC-V Image");
  }
  const modules = new Map<string, Buffer>();
  const pending = [...wanted];
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    const found = packed.get(name);
    if (found === undefined)
      throw new ShinkenError("image_build_failed", `the kernel package has no module ${name}`);
    if (modules.has(name)) continue;
    const module = stripSymbols(stripSignature(await unpackModule(found.path, found.data)));
    modules.set(name, module);
    pending.push(...moduleDepends(module));
  }
  return {
    image,
    modules: loadOrder(wanted, modules).map((name) => ({ name, data: modules.get(name) ?? Buffer.alloc(0) })),
  };
}

/** Whether the host has what reading packages needs; rejects with `host_unsupported` where not. */
export async function requireTools(): Promise<void> {
  for (const program of ["dpkg-deb", "gpgv", "xz", "apt-get"]) await run(program, ["--version"]);
}
