/** The index of a folder of bundles: one line for each finished episode, with the hash of its whole file. Only appended to. */
import { createReadStream, openSync, writeSync, closeSync } from "node:fs";
import { join } from "node:path";
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
  /** What was done to a file that had not been finished. */
  recovered?: boolean;
}

export function indexPath(folder: string): string {
  return join(folder, "index.jsonl");
}

/** Appends a line in one write: processes that share the folder do not mix theirs. Throws what the file system says. */
export function appendIndex(folder: string, line: IndexLine): void {
  const fd = openSync(indexPath(folder), "a", 0o600);
  try {
    writeSync(fd, `${JSON.stringify(line)}\n`);
  } finally {
    closeSync(fd);
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
