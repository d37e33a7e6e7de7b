/**
 * What this host offers to machines, for `shinken doctor`: each fact with a state and, where something is to be done,
 * how. Nothing here changes the host.
 */
import { constants } from "node:fs";
import { access, readdir, statfs } from "node:fs/promises";
import { availableParallelism, freemem, release, totalmem } from "node:os";
import { delimiter, join } from "node:path";
import { type DoctorFact, flatMemoryFacts, textOf } from "./doctor-memory.js";
import { goldenFolder } from "./microvm/golden-folder.js";

export type { DoctorFact };

/** Memory below which the demo's goldens and image build do not fit, bytes. */
const MIN_MEMORY = 3 * 1024 ** 3;
/** Mappings that a process needs for a thousand flat machines. */
const MIN_MAP_COUNT = 65_530;
const MIN_DISK = 4 * 1024 ** 3;

/** Gathers the facts of the host, in a stable order. Never rejects: what cannot be read is a fact as well. */
export async function doctorFacts(): Promise<DoctorFact[]> {
  const others = await Promise.all<DoctorFact | DoctorFact[]>([
    kvmFact(),
    flatMemoryFacts(),
    mapCountFact(),
    compilerFact("compiler", ["g++", "clang++", "c++"], "apt-get install g++ make", "builds the addon"),
    compilerFact(
      "agent compiler",
      ["riscv64-linux-gnu-gcc"],
      "apt-get install gcc-riscv64-linux-gnu",
      "builds the guest agent",
    ),
    compilerFact("gpgv", ["gpgv"], "apt-get install gpgv", "checks the signatures of Debian's release files"),
    addonFact(),
    goldenFact(),
    diskFact(),
  ]);
  return [cpuFact(), memoryFact(), ...others.flat()];
}

const mib = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;

function cpuFact(): DoctorFact {
  return {
    name: "host",
    state: process.platform === "linux" ? "ok" : "note",
    detail: `${process.platform} ${release()} on ${process.arch}, ${availableParallelism()} cores, Node ${process.version}`,
    advice: process.platform === "linux" ? undefined : "only Linux hosts are tested",
  };
}

function memoryFact(): DoctorFact {
  const total = totalmem();
  const detail = `${mib(freemem())} free of ${mib(total)}`;
  if (total >= MIN_MEMORY) return { name: "memory", state: "ok", detail };
  return { name: "memory", state: "note", detail, advice: `building the image wants ${mib(MIN_MEMORY)}` };
}

async function kvmFact(): Promise<DoctorFact> {
  const name = "kvm";
  try {
    await access("/dev/kvm", constants.R_OK | constants.W_OK);
    return { name, state: "ok", detail: "/dev/kvm can be opened (rv64 machines do not need it)" };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why =
      code === "ENOENT"
        ? "there is no /dev/kvm"
        : code === "EACCES"
          ? "/dev/kvm is not ours to open"
          : String(code);
    return { name, state: "note", detail: `${why}; rv64 machines run in software and do not need it` };
  }
}

async function mapCountFact(): Promise<DoctorFact> {
  const name = "max_map_count";
  const text = await textOf("/proc/sys/vm/max_map_count");
  if (text === null) return { name, state: "note", detail: "unknown" };
  const value = Number(text);
  if (value >= MIN_MAP_COUNT) return { name, state: "ok", detail: text };
  return { name, state: "note", detail: text, advice: `sysctl vm.max_map_count=${MIN_MAP_COUNT}` };
}

async function compilerFact(
  name: string,
  programs: string[],
  advice: string,
  use: string,
): Promise<DoctorFact> {
  for (const program of programs) {
    const path = await findProgram(program);
    if (path !== null) return { name, state: "ok", detail: path };
  }
  return { name, state: "missing", detail: `none of ${programs.join(", ")} is on PATH; it ${use}`, advice };
}

/** First file of that name on PATH that may be executed. */
async function findProgram(program: string): Promise<string | null> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    if (folder === "") continue;
    try {
      await access(join(folder, program), constants.X_OK);
      return join(folder, program);
    } catch {
      // not in this folder
    }
  }
  return null;
}

async function addonFact(): Promise<DoctorFact> {
  const name = "addon";
  try {
    const { loadAddon } = await import("./microvm/addon.js");
    return { name, state: "ok", detail: `machine_abi ${loadAddon().machineAbi}` };
  } catch (error) {
    return {
      name,
      state: "missing",
      detail: error instanceof Error ? error.message : String(error),
      advice: "make build",
    };
  }
}

async function goldenFact(): Promise<DoctorFact> {
  const name = "goldens";
  const folder = goldenFolder();
  try {
    const names = (await readdir(folder)).filter((entry) => entry.endsWith(".golden"));
    return { name, state: names.length > 0 ? "ok" : "note", detail: `${names.length} in ${folder}` };
  } catch {
    return { name, state: "note", detail: `none yet in ${folder}; the first run makes them` };
  }
}

async function diskFact(): Promise<DoctorFact> {
  const name = "disk";
  for (let folder = goldenFolder(); ; folder = join(folder, "..")) {
    try {
      const { bavail, bsize } = await statfs(folder);
      const free = bavail * bsize;
      const detail = `${mib(free)} free for the cache`;
      return free >= MIN_DISK
        ? { name, state: "ok", detail }
        : { name, state: "note", detail, advice: `an image with its goldens wants ${mib(MIN_DISK)}` };
    } catch {
      if (folder === join(folder, "..")) return { name, state: "note", detail: "unknown" };
    }
  }
}
