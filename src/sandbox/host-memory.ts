/** How much memory this process may use: the host's, and that of the control groups which it is in. Linux only. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** One bound on memory; all hold at once. */
export interface MemoryBound {
  /** What sets it, for people. */
  name: string;
  totalBytes: number;
  /** What could be taken without swapping: free, or in the page cache and clean. */
  availableBytes: number;
}

/**
 * The bounds as they are now, the host's first; none where the host does not say (no Linux). Some files are read, a fraction of a
 * millisecond in all.
 * @param root folder that stands for `/`
 */
export function memoryBounds(root = "/"): MemoryBound[] {
  const host = hostBound(root);
  return host === null ? [] : [host, ...groupBounds(root)];
}

function hostBound(root: string): MemoryBound | null {
  const text = read(join(root, "proc/meminfo"));
  const total = kibibytes(text, "MemTotal");
  const available = kibibytes(text, "MemAvailable");
  if (total === null || available === null) return null;
  return { name: "the host's memory", totalBytes: total, availableBytes: available };
}

function kibibytes(text: string | null, field: string): number | null {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text ?? "");
  return found?.[1] === undefined ? null : Number(found[1]) * 1024;
}

/** Where a version of control groups keeps its figures. */
interface GroupFiles {
  mount: string;
  limit: string;
  usage: string;
  /** Field of `memory.stat`: page cache that goes without being written. */
  cache: string;
}

const v2: GroupFiles = {
  mount: "sys/fs/cgroup",
  limit: "memory.max",
  usage: "memory.current",
  cache: "inactive_file",
};
const v1: GroupFiles = {
  mount: "sys/fs/cgroup/memory",
  limit: "memory.limit_in_bytes",
  usage: "memory.usage_in_bytes",
  cache: "total_inactive_file",
};

/** "No limit" in version 1 is the largest multiple of a page. */
const UNLIMITED = 2 ** 62;

function groupBounds(root: string): MemoryBound[] {
  const lines = (read(join(root, "proc/self/cgroup")) ?? "").split("\n");
  const bounds: MemoryBound[] = [];
  for (const line of lines) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path === undefined || controllers === undefined) continue;
    const files = controllers === "" ? v2 : controllers.split(",").includes("memory") ? v1 : null;
    if (files !== null) bounds.push(...boundsAlong(root, files, path));
  }
  return bounds;
}

/** Those of a group and of all around it. In a container the path may be the host's view: then its root is what is left. */
function boundsAlong(root: string, files: GroupFiles, path: string): MemoryBound[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== "..");
  const bounds: MemoryBound[] = [];
  for (let depth = parts.length; depth >= 0; depth -= 1) {
    const folder = join(root, files.mount, ...parts.slice(0, depth));
    const limit = Number(read(join(folder, files.limit)) ?? Number.NaN);
    const usage = Number(read(join(folder, files.usage)) ?? Number.NaN);
    if (!(limit < UNLIMITED) || Number.isNaN(usage)) continue;
    const stat = read(join(folder, "memory.stat")) ?? "";
    const cache = Number(new RegExp(`^${files.cache} (\\d+)$`, "m").exec(stat)?.[1] ?? 0);
    const availableBytes = Math.max(0, limit - Math.max(0, usage - cache));
    bounds.push({ name: "the control group's memory", totalBytes: limit, availableBytes });
  }
  return bounds;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}
