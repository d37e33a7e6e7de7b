/**
 * Finishes the bundles of killed writers: what is whole stays as it is, an event says that the file was recovered, and the end that
 * any MCAP tool looks for is written. A file is replaced at once or not at all, and never while somebody writes it.
 */
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { copyFile, rename, rm, stat } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { filesAt } from "../files.js";
import { sknVersion } from "../format/version.js";
import { BundleWriter } from "./bundle-writer.js";
import { appendIndex, homeOf, type IndexLine, readIndex } from "./index-file.js";
import { syncPath } from "./durable.js";
import { removeLeftovers } from "./leftovers.js";
import { livingOwner, release, take } from "./owner.js";
import { type Damage, type Scan, scan } from "./scan.js";

export interface Recovery {
  file: string;
  /**
   * `finished`: nothing to do. `indexed`: it was whole, and the index did not say so. `recovered`: it had been cut off. `salvaged`: the part
   * before its first damage was finished, and the file as it was lies at `kept`. `busy`: a living process writes it. `empty`: cut off before
   * its first event. `refused`: no bundle that this program can finish; `empty`, `busy` and `refused` leave it alone.
   */
  status: "finished" | "indexed" | "recovered" | "salvaged" | "busy" | "empty" | "refused";
  /** Events that it holds now; null where nobody looked. */
  events: number | null;
  /** Bytes behind what was whole; they are no longer in the file. */
  lost_bytes: number;
  damage: Damage | null;
  kept: string | null;
  /** For people: who writes it, or why it was refused. */
  reason: string | null;
}

/** Recovers the bundles of a folder, and tidies it, or one. Rejects with what the file system says, where a file cannot be read or written. */
export async function recover(path: string): Promise<Recovery[]> {
  const files = (await filesAt(path)).map((file) => resolve(file));
  const folder = (await stat(path)).isDirectory() ? resolve(path) : null;
  const indexes = new Map<string, Map<string, IndexLine>>();
  const recoveries: Recovery[] = [];
  for (const file of files) {
    // A folder of bundles that never finished one has no index yet.
    const home = homeOf(file) ?? (folder !== null && dirname(dirname(file)) === folder ? folder : null);
    if (home !== null && !indexes.has(home)) indexes.set(home, await readIndex(home));
    const line = home === null ? undefined : indexes.get(home)?.get(relative(home, file));
    recoveries.push(await recoverOne(file, home, line));
  }
  if (folder !== null) for (const each of new Set([folder, ...indexes.keys()])) await removeLeftovers(each);
  return recoveries;
}

async function recoverOne(file: string, home: string | null, line: IndexLine | undefined): Promise<Recovery> {
  const recovery: Recovery = {
    file,
    status: "finished",
    events: null,
    lost_bytes: 0,
    damage: null,
    kept: null,
    reason: null,
  };
  const owner = livingOwner(file);
  if (owner !== null) return { ...recovery, status: "busy", reason: `${owner} writes it` };
  if (line !== undefined && (await stat(file)).size === line.bytes && !existsSync(`${file}.lock`))
    return recovery;
  if (!take(file)) return { ...recovery, status: "busy", reason: "another process has taken it" };
  try {
    const found = await scan(file);
    recovery.events = found.next;
    recovery.damage = found.damage;
    if (found.state === "finished") {
      // Told already, whatever the file's size says: only its check can tell what was changed.
      if (line !== undefined || home === null) return recovery;
      appendIndex(home, lineOf(found, relative(home, file), found.bytes, found.sha256));
      return { ...recovery, status: "indexed" };
    }
    if (found.next === 0) {
      if (found.state === "cut") return { ...recovery, status: "empty" };
      return { ...recovery, status: "refused", reason: "nothing before its first damage is whole" };
    }
    if (found.version === null || found.version > sknVersion)
      return { ...recovery, status: "refused", reason: "its events are of a version that is not known here" };
    return { ...recovery, ...(await finish(file, home, found)) };
  } finally {
    release(file);
  }
}

async function finish(file: string, home: string | null, found: Scan): Promise<Partial<Recovery>> {
  const lost = found.bytes - found.written.length;
  const temporary = `${file}.tmp`;
  let kept: string | null = null;
  try {
    const whole = createReadStream(file, { end: found.written.length - 1 });
    await pipeline(whole, createWriteStream(temporary, { mode: 0o600 }));
    const writer = BundleWriter.resume(temporary, found.written, found.hash);
    try {
      writer.add("marker", {
        seq: found.next,
        step: found.step,
        t_guest: null,
        t_wall: Date.now(),
        kind: "recovered",
        message:
          found.damage === null
            ? "the writer ended before its time"
            : `damaged at byte ${found.damage.at}: ${found.damage.what}`,
        lost_bytes: lost,
      });
      await writer.finish();
    } finally {
      writer.abandon();
    }
    if (found.damage !== null) {
      kept = freeName(`${file}.damaged`);
      await copyFile(file, kept);
    }
    await rename(temporary, file);
    await syncPath(dirname(file));
    if (home !== null) {
      const line = lineOf(found, relative(home, file), writer.length, writer.sha256());
      appendIndex(home, { ...line, recovered: true });
    }
  } finally {
    await rm(temporary, { force: true });
  }
  const status = found.damage === null ? "recovered" : "salvaged";
  return { status, events: found.next + 1, lost_bytes: lost, kept };
}

function lineOf(found: Scan, file: string, bytes: number, sha256: string): IndexLine {
  return {
    file,
    bytes,
    sha256,
    ...found.summary.line(),
    ...(found.recovered ? { recovered: true } : {}),
  };
}

function freeName(wanted: string): string {
  let name = wanted;
  for (let number = 1; existsSync(name); number += 1) name = `${wanted}.${number}`;
  return name;
}
