import { posix } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import type { TarEntry } from "../deb/tar.js";
import type { CpioEntry, CpioWriter } from "./cpio.js";

/** Top-level folders that are links into /usr; a package may still name a file by the old path. */
const aliases = new Set(["bin", "sbin", "lib", "lib32", "lib64"]);

/** A member's path without leading `./`, dots and aliased folders; empty for the root itself. */
export function canonicalPath(name: string): string {
  const path = posix.normalize(`/${name}`).slice(1).replace(/\/$/, "");
  const slash = path.indexOf("/");
  return slash > 0 && aliases.has(path.slice(0, slash)) ? `usr/${path}` : path;
}

export interface TreeOptions {
  /** Folder of the archive under which the tree stands, e.g. `target`; empty for none. */
  prefix: string;
  /** Whether an absolute path stays out. */
  excluded: (path: string) => boolean;
  /** Owner, mode and time of folders that no package describes. */
  mtime: number;
}

/**
 * Merges the members of many packages into one archive: a folder is written once, by the first package that has
 * it; a file that two packages hold is an error. Nothing is unpacked and no host file takes part.
 */
export class TreeWriter {
  private readonly cpio: CpioWriter;
  private readonly options: TreeOptions;
  private readonly written = new Map<string, string>();
  /** Folders that a rule leaves out until something in them is kept. */
  private readonly dormant = new Map<string, TarEntry>();

  constructor(cpio: CpioWriter, options: TreeOptions) {
    this.cpio = cpio;
    this.options = options;
  }

  /** Writes one package's members; `owner` names it in errors. */
  async addPackage(owner: string, entries: readonly TarEntry[]): Promise<void> {
    const links = hardLinks(entries);
    for (const entry of entries) {
      if (entry.type === "hardlink") continue;
      const path = canonicalPath(entry.name);
      if (entry.type === "directory") {
        await this.folder(path, entry);
        continue;
      }
      const names = [path, ...(links.get(path) ?? [])].filter((name) => !this.options.excluded(`/${name}`));
      for (const name of names) await this.parents(name);
      const fresh = names.filter((name) => this.claim(name, entry, owner));
      await this.emit(fresh, entry);
    }
  }

  /** Writes a file of ours; folders above it are made. */
  async addFile(path: string, data: Uint8Array | string, mode = 0o644): Promise<void> {
    await this.parents(path);
    this.written.set(path, "file");
    const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data;
    await this.cpio.add({ ...this.ours(path, "file", mode), data: bytes });
  }

  /** Writes an empty folder of ours unless it is there. */
  async addFolder(path: string, mode = 0o755): Promise<void> {
    if (this.written.has(path)) return;
    if (path !== "") await this.parents(path);
    this.written.set(path, "directory");
    await this.cpio.add(this.ours(path, "directory", mode));
  }

  private ours(path: string, type: CpioEntry["type"], mode: number): CpioEntry {
    return { path: this.name(path), type, mode, uid: 0, gid: 0, mtime: this.options.mtime };
  }

  private name(path: string): string {
    if (this.options.prefix === "") return path === "" ? "." : path;
    return path === "" ? this.options.prefix : `${this.options.prefix}/${path}`;
  }

  private async folder(path: string, entry: TarEntry): Promise<void> {
    const kind = this.written.get(path);
    // A package that names an aliased folder (`./lib/`) means the link that is there.
    if (kind !== undefined || (aliases.has(path) && this.written.has(`usr/${path}`))) return;
    if (path !== "" && this.options.excluded(`/${path}`)) {
      if (!this.dormant.has(path)) this.dormant.set(path, entry);
      return;
    }
    if (path !== "") await this.parents(path);
    this.written.set(path, "directory");
    await this.cpio.add({ ...attributes(entry), path: this.name(path), type: "directory" });
  }

  private async parents(path: string): Promise<void> {
    const parent = posix.dirname(path);
    const folder = parent === "." ? "" : parent;
    if (this.written.has(folder)) return;
    if (folder !== "") await this.parents(folder);
    this.written.set(folder, "directory");
    const known = this.dormant.get(folder);
    await this.cpio.add(
      known === undefined
        ? this.ours(folder, "directory", 0o755)
        : { ...attributes(known), path: this.name(folder), type: "directory" },
    );
  }

  /** Notes a path as taken; false if the same link is already there. */
  private claim(path: string, entry: TarEntry, owner: string): boolean {
    const mark = entry.type === "symlink" ? `link ${entry.link}` : `${entry.type} ${owner}`;
    const before = this.written.get(path);
    if (before === undefined) {
      this.written.set(path, mark);
      return true;
    }
    if (before === mark && entry.type === "symlink") return false;
    throw new ShinkenError("image_build_failed", `/${path} of ${owner} is already in the image (${before})`);
  }

  private async emit(paths: readonly string[], entry: TarEntry): Promise<void> {
    const type = entry.type === "hardlink" ? "file" : entry.type;
    const data =
      type === "symlink" ? Buffer.from(entry.link, "utf8") : type === "file" ? entry.data : undefined;
    const common = { ...attributes(entry), type, data };
    const [first] = paths;
    if (first === undefined) return;
    if (paths.length === 1) await this.cpio.add({ ...common, path: this.name(first) });
    else
      await this.cpio.addLinked(
        paths.map((path) => this.name(path)),
        common,
      );
  }
}

function attributes(entry: TarEntry): Omit<CpioEntry, "path" | "type" | "data"> {
  const { mode, uid, gid, mtime, major, minor } = entry;
  return { mode, uid, gid, mtime, major, minor };
}

/** Further names of a package's files, by the first name. */
function hardLinks(entries: readonly TarEntry[]): Map<string, string[]> {
  const links = new Map<string, string[]>();
  for (const entry of entries) {
    if (entry.type !== "hardlink") continue;
    const target = canonicalPath(entry.link);
    links.set(target, [...(links.get(target) ?? []), canonicalPath(entry.name)]);
  }
  return links;
}
