/**
 * Who writes a file, told beside it: `FILE.lock` names a process by its id and the moment it started, so that neither a killed writer
 * nor another process of the same id passes for a living one. It is there as long as the file is open, and made before the file.
 */
import { createHash, randomUUID } from "node:crypto";
import { linkSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";

/** A process, told so that it can be told from all others. */
interface Owner {
  pid: number;
  /** Clock ticks between the host's start and the process's; null where the host does not say. */
  started: string | null;
  /** Where process ids mean the same: boot and namespace of processes, else the host's name. */
  place: string;
}

/** Milliseconds after which a file that nobody here can be asked about, and that nobody has touched, is nobody's. */
const foreignAfter = 24 * 3600 * 1000;

export function lockPath(file: string): string {
  return `${file}.lock`;
}

/** Takes the file for this process. False if somebody else has it. Throws what the file system says. */
export function take(file: string): boolean {
  const before = lockAt(file);
  if (livingOwner(file) !== null) return false;
  // A link is made with its content, or not at all: nobody reads half an owner.
  const draft = `${file}.${randomUUID()}.tmp`;
  writeFileSync(draft, JSON.stringify(self()), { mode: 0o600 });
  try {
    if (before !== null && !clear(file, before, draft)) return false;
    linkSync(draft, lockPath(file));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Which lock it is, not only what it says. Null where there is none. */
function lockAt(file: string): string | null {
  try {
    const text = readFileSync(lockPath(file), "utf8");
    return createHash("sha256")
      .update(`${statSync(lockPath(file)).ino} ${text}`)
      .digest("hex");
  } catch {
    return null;
  }
}

/**
 * Removes the lock that a killed process left, if it is still that one: another taker may have been quicker, and its own is not to be
 * removed. Whoever makes the mark of that very lock may remove it; nobody else does. False if somebody else is at it.
 */
function clear(file: string, lock: string, draft: string): boolean {
  const mark = `${lockPath(file)}.${lock.slice(0, 16)}.tmp`;
  try {
    linkSync(draft, mark);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const owner = parse(readIfThere(mark));
    // Whoever made it was killed just then: the next taker finds it gone.
    if (owner === null || owner.place !== self().place || !isAlive(owner)) rmSync(mark, { force: true });
    return false;
  }
  try {
    if (lockAt(file) === lock) rmSync(lockPath(file), { force: true });
    return true;
  } finally {
    rmSync(mark, { force: true });
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Takes a file that this process has just named at random: nobody else has it. */
export function takeNew(file: string): void {
  writeFileSync(lockPath(file), JSON.stringify(self()), { mode: 0o600, flag: "wx" });
}

export function release(file: string): void {
  rmSync(lockPath(file), { force: true });
}

/** Names the living process that has the file, for people; null if none has. */
export function livingOwner(file: string): string | null {
  let text: string;
  let touched: number;
  try {
    text = readFileSync(lockPath(file), "utf8");
    touched = statSync(lockPath(file)).mtimeMs;
  } catch {
    return null;
  }
  const owner = parse(text);
  if (owner === null) return Date.now() - touched < foreignAfter ? "a process that cannot be told" : null;
  if (owner.place !== self().place) {
    const last = Math.max(touched, modified(file));
    return Date.now() - last < foreignAfter ? `process ${owner.pid} of another host or container` : null;
  }
  return isAlive(owner) ? `process ${owner.pid}` : null;
}

/** Whether whoever wrote the file about itself has ended; of what cannot be asked here, whether it has rested for long. */
export function isAbandoned(path: string): boolean {
  const owner = parse(readIfThere(path));
  if (owner === null || owner.place !== self().place) return Date.now() - modified(path) >= foreignAfter;
  return !isAlive(owner);
}

let own: Owner | null = null;

function self(): Owner {
  own ??= { pid: process.pid, started: startOf(process.pid), place: placeOfProcesses() };
  return own;
}

function isAlive({ pid, started }: Owner): boolean {
  if (started !== null) return startOf(pid) === started;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Field 22 of a process's `stat`. The name in field 2 may hold anything, parentheses included. Null for one that has ended. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function placeOfProcesses(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

function modified(file: string): number {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

function parse(text: string): Owner | null {
  try {
    const { pid, started, place } = JSON.parse(text) as Partial<Owner>;
    if (typeof pid !== "number" || typeof place !== "string") return null;
    return { pid, place, started: typeof started === "string" ? started : null };
  } catch {
    return null;
  }
}
