import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { PackageRecord } from "../apt/index_file.js";
import { inOrderAhead } from "../ahead.js";
import { asset } from "../assets.js";
import { type DebControl, readControl, readData } from "../deb/package.js";
import type { TarEntry } from "../deb/tar.js";
import { architecture, type ImageHook, pathRules } from "../recipe.js";
import { type PythonSource, PythonSources } from "../python/sources.js";
import { CpioWriter, type ByteSink } from "./cpio.js";
import { DpkgDatabase } from "./dpkg_database.js";
import { hookEntries } from "./hooks.js";
import { pickLocales } from "./locales.js";
import { dpkgConfiguration, pathFilter } from "./path_rules.js";
import { TreeWriter } from "./tree.js";

/** Names under which the do-nothing shim stands in PATH during the finishing boot. */
const idle = [
  "ldconfig",
  "py3compile",
  "deb-systemd-helper",
  "deb-systemd-invoke",
  "systemctl",
  "update-rc.d",
  "invoke-rc.d",
];
const shims = ["dpkg", "update-ca-certificates"];

export interface FinishingRoot {
  root: readonly { record: PackageRecord; deb: string }[];
  tools: readonly { record: PackageRecord; deb: string }[];
  locales: { deb: string; names: readonly string[] };
  hooks: readonly ImageHook[];
  /** Awaited last: they are unpacked from the largest package of all while the others pass. */
  modules: Promise<readonly { name: string; data: Uint8Array }[]>;
  /** Clock of the finishing boot, seconds since the epoch. */
  epoch: number;
  uuid: string;
  onPackage?: (name: string, bytes: number) => void;
  /** Byte code of the modules, or null if the guest is to compile them. */
  compile: ((sources: readonly PythonSource[]) => Promise<TarEntry[]>) | null;
}

/** Packages that are being unpacked while one is written. */
const readAhead = 1;

interface Unpacked {
  record: PackageRecord;
  control: DebControl;
  entries: TarEntry[];
}

async function unpack({ record, deb }: { record: PackageRecord; deb: string }): Promise<Unpacked> {
  const [control, entries] = await Promise.all([readControl(deb), members(deb)]);
  return { record, control, entries };
}

async function members(deb: string): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  for await (const entry of readData(deb)) entries.push(entry);
  return entries;
}

/**
 * Writes the initial root of the finishing boot: under `target` the image's packages, unpacked and not yet
 * configured; beside it the tools that finish it. Few packages at a time are held in memory.
 */
export async function writeFinishingRoot(parts: FinishingRoot, sink: ByteSink): Promise<void> {
  const cpio = new CpioWriter(sink);
  const outer = new TreeWriter(cpio, { prefix: "", excluded: () => false, mtime: parts.epoch });
  await outer.addFolder("");
  for (const path of ["dev", "proc", "sys", "bin", "modules", "tools"]) await outer.addFolder(path);
  await cpio.add({
    path: "dev/console",
    type: "char",
    mode: 0o600,
    uid: 0,
    gid: 0,
    mtime: parts.epoch,
    major: 5,
    minor: 1,
  });
  await outer.addFile("init", await readFile(asset("guest", "init.sh")), 0o755);
  await outer.addFile("finish.conf", `EPOCH=${parts.epoch}\nUUID=${parts.uuid}\n`);

  const tools = new TreeWriter(cpio, {
    prefix: "tools",
    excluded: pathFilter(pathRules),
    mtime: parts.epoch,
  });
  for await (const { record, entries } of inOrderAhead(parts.tools, readAhead, unpack)) {
    await tools.addPackage(record.name, entries);
    const busybox = entries.find((entry) => entry.name === "./usr/bin/busybox" && entry.type === "file");
    if (busybox !== undefined) await outer.addFile("bin/busybox", busybox.data, 0o755);
    parts.onPackage?.(record.name, record.size);
  }
  await writeTarget(cpio, parts);
  for (const module of await parts.modules) await outer.addFile(`modules/${module.name}.ko`, module.data);
  await cpio.finish();
}

async function writeTarget(cpio: CpioWriter, parts: FinishingRoot): Promise<void> {
  const target = new TreeWriter(cpio, {
    prefix: "target",
    excluded: pathFilter(pathRules),
    mtime: parts.epoch,
  });
  const database = new DpkgDatabase();
  const python = new PythonSources();
  // base-files first: it says how the top folders look, and holds the links of merged /usr.
  const first = (name: string): number => (name === "base-files" ? 0 : 1);
  const ordered = [...parts.root].sort((a, b) => first(a.record.name) - first(b.record.name));
  for await (const { record, control, entries } of inOrderAhead(ordered, readAhead, unpack)) {
    await target.addPackage(record.name, entries);
    database.add(control, entries);
    python.add(entries);
    parts.onPackage?.(record.name, record.size);
  }
  await target.addPackage("locales-all", pickLocales(await members(parts.locales.deb), parts.locales.names));
  for (const [path, file] of database.finish(architecture))
    await target.addFile(`var/lib/dpkg/${path}`, file.data, file.mode);
  if (parts.compile !== null) await target.addPackage("byte code", await parts.compile(python.list()));
  await target.addPackage("the recipe's hooks", hookEntries(parts.hooks, parts.epoch));
  await target.addFile("etc/dpkg/dpkg.cfg.d/shinken", dpkgConfiguration(pathRules));
  await target.addFile("usr/sbin/policy-rc.d", await readFile(asset("guest", "policy-rc.d")), 0o755);
  await target.addFolder("root", 0o700);
  const work = "var/tmp/finish";
  await target.addFile(`${work}/configure.sh`, await readFile(asset("guest", "configure.sh")));
  await target.addFile(`${work}/compile_all.py`, await readFile(asset("guest", "compile_all.py")));
  const nothing = await readFile(asset("guest", "shims", "nothing"));
  for (const name of idle) await target.addFile(`${work}/shims/${name}`, nothing, 0o755);
  for (const name of shims)
    await target.addFile(`${work}/shims/${name}`, await readFile(asset("guest", "shims", name)), 0o755);
}

/** A UUID (version 8: the maker's own) made of a digest, so that the same packages give the same file system. */
export function uuidOf(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
