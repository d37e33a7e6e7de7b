import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How often a waiting builder looks again, milliseconds. */
const pollInterval = 500;
/** A lock folder without an owner file is taken over after this many looks: its maker died in between. */
const ownerlessLooks = 10;

/** A process's start time, field 22 of /proc/PID/stat: with it, a number that is used again is not mistaken. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

function me(): string {
  return `${process.pid} ${startTime(process.pid) ?? "?"}`;
}

function ownerOf(lock: string): string | undefined {
  try {
    return readFileSync(join(lock, "owner"), "utf8");
  } catch {
    return undefined;
  }
}

function isAlive(owner: string): boolean {
  const [pid, start] = owner.split(" ");
  return pid !== undefined && /^\d+$/.test(pid) && startTime(Number(pid)) === start;
}

/** Takes the lock if it is free; the folder appears in one step or not at all. */
function tryTake(lock: string): boolean {
  try {
    mkdirSync(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    writeFileSync(join(lock, "owner"), me());
  } catch (error) {
    // On a full disk nobody owns it, and the next builder would wait for a maker who is not there.
    rmSync(lock, { recursive: true, force: true });
    throw error;
  }
  return true;
}

/** Moves a dead owner's lock away; of several who try, one succeeds. */
function breakLock(lock: string): void {
  const grave = `${lock}.dead-${randomBytes(6).toString("hex")}`;
  try {
    renameSync(lock, grave);
  } catch {
    return;
  }
  rmSync(grave, { recursive: true, force: true });
}

/**
 * Runs `work` while holding a lock that works between processes. A lock whose owner has died is taken over.
 * `onWait` is called once if somebody else holds it.
 */
export async function withLock<T>(lock: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let looks = 0;
  let ownerless = 0;
  while (!tryTake(lock)) {
    const owner = ownerOf(lock);
    ownerless = owner === undefined || owner === "" ? ownerless + 1 : 0;
    if (owner !== undefined && owner !== "" ? !isAlive(owner) : ownerless > ownerlessLooks) {
      breakLock(lock);
      continue;
    }
    if (looks === 0) onWait();
    looks += 1;
    await sleep(pollInterval);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}
