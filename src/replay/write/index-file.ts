/** The index of a folder of bundles: one line for each finished episode, with the hash of its whole file. Only appended to. */
import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

/** One finished bundle. */
export interface IndexLine {
  /** Relative to the folder. */
  file: string;
  bytes: number;
  /** Of the whole file, in hex. */
  sha256: string;
  episode?: string;
  task?: string;
  task_version?: string;
  seed?: number | null;
  labels?: Record<string, string | number | boolean>;
  parent?: { episode: string; step: number } | null;
  steps?: number;
  /** Of the last verdict, if it was graded at all. */
  status?: "graded" | "ungraded";
  score?: number | null;
  /** SHA-256 of the content beside the bundle that its events refer to, sorted. */
  blobs?: string[];
  /** What was done to a file that had not been finished. */
  recovered?: boolean;
}

export function indexPath(folder: string): string {
  return join(folder, "index.jsonl");
}

/**
 * Appends a line in one write: processes that share the folder do not mix theirs. Written again where the index was replaced
 * meanwhile by a shorter one. Throws what the file system says.
 */
export function appendIndex(folder: string, line: IndexLine): void {
  const path = indexPath(folder);
  const text = `${JSON.stringify(line)}\n`;
  for (;;) {
    const fd = openSync(path, "a+", 0o600);
    try {
      // A full disk may have cut somebody's line short: what follows must not continue it.
      const bytes = Buffer.from(endsLine(fd) ? text : `\n${text}`);
      if (writeSync(fd, bytes) < bytes.byteLength)
        throw Object.assign(new Error("a line of the index was cut short"), { code: "ENOSPC" });
      if (inode(path) === fstatSync(fd).ino) return;
    } finally {
      closeSync(fd);
    }
  }
}

/**
 * Replaces the index by one with only the lines to keep. One process at a time; others may append meanwhile: a line that the old
 * file still gets before it is replaced is carried over, and one that it gets later is appended again by its writer.
 */
export function shortenIndex(folder: string, keep: (line: IndexLine) => boolean): void {
  const path = indexPath(folder);
  const temporary = `${path}.tmp`;
  const old = openSync(path, "r");
  try {
    const before = readFrom(old, 0);
    writeFileSync(temporary, kept(before.toString("utf8"), keep), { mode: 0o600, flush: true });
    renameSync(temporary, path);
    const late = readFrom(old, before.byteLength).toString("utf8");
    for (const text of late.split("\n")) {
      const line = parseLine(text);
      if (line !== null) appendIndex(folder, line);
    }
  } finally {
    closeSync(old);
    rmSync(temporary, { force: true });
  }
}

function kept(text: string, keep: (line: IndexLine) => boolean): string {
  const lines = text.split("\n").filter((each) => {
    const line = parseLine(each);
    return line !== null && keep(line);
  });
  return lines.map((each) => `${each}\n`).join("");
}

/** From there to the end. */
function readFrom(fd: number, at: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, fstatSync(fd).size - at));
  let read = 0;
  while (read < bytes.byteLength) {
    const now = readSync(fd, bytes, read, bytes.byteLength - read, at + read);
    if (now === 0) break;
    read += now;
  }
  return bytes.subarray(0, read);
}

function endsLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}

function inode(path: string): number | null {
  try {
    return statSync(path).ino;
  } catch {
    return null;
  }
}

/** The latest line of each file; none where there is no index. A line that a kill cut short is left out. */
export async function readIndex(folder: string): Promise<Map<string, IndexLine>> {
  const lines = new Map<string, IndexLine>();
  const input = createReadStream(indexPath(folder), "utf8");
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = parseLine(text);
      if (line !== null) lines.set(line.file, line);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return lines;
}

function parseLine(text: string): IndexLine | null {
  try {
    const line = JSON.parse(text) as IndexLine;
    return typeof line.file === "string" && typeof line.sha256 === "string" ? line : null;
  } catch {
    return null;
  }
}

/** The folder that a bundle belongs to: a level up, or where it lies; null where there is neither an index nor content. */
export function homeOf(file: string): string | null {
  const folders = [dirname(dirname(file)), dirname(file)];
  return folders.find((each) => existsSync(indexPath(each)) || existsSync(join(each, "blobs"))) ?? null;
}
