import type { Sandbox } from "../../sandbox/sandbox.js";
import { aciLimits } from "./limits.js";

export type LinesFound =
  | { status: "found"; bytes: Uint8Array; complete: boolean }
  | { status: "past_end"; lines: number }
  | { status: "too_far" };

const newline = 0x0a;

/**
 * Lines `first` to `last` (from 1, inclusive; -1: to the end) of a file, read in chunks so that a range deep in a
 * large file costs no more memory than the range. `complete` is false if the range goes on beyond what may be read.
 */
export async function readLines(
  sandbox: Sandbox,
  path: string,
  user: string,
  first: number,
  last: number,
): Promise<LinesFound> {
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  let line = 1;
  let offset = 0;
  let lastByte = newline;
  while (offset < aciLimits.scanBytes) {
    const chunk = await sandbox.readFile(path, { offset, limit: aciLimits.scanChunkBytes, user });
    if (chunk.length === 0) return atEnd(kept, first, lastByte === newline ? line - 1 : line);
    lastByte = chunk[chunk.length - 1] ?? newline;
    let from = line >= first ? 0 : -1;
    let at = 0;
    while (last === -1 ? line < first : line <= last) {
      const end = chunk.indexOf(newline, at);
      if (end === -1) break;
      at = end + 1;
      line += 1;
      if (line === first) from = at;
      if (last !== -1 && line > last) {
        kept.push(chunk.subarray(from, at));
        return { status: "found", bytes: Buffer.concat(kept), complete: true };
      }
    }
    if (from !== -1) {
      kept.push(chunk.subarray(from));
      keptBytes += chunk.length - from;
      if (keptBytes > aciLimits.editBytes)
        return { status: "found", bytes: Buffer.concat(kept), complete: false };
    }
    offset += chunk.length;
  }
  return line < first
    ? { status: "too_far" }
    : { status: "found", bytes: Buffer.concat(kept), complete: false };
}

function atEnd(kept: Uint8Array[], first: number, lines: number): LinesFound {
  const bytes = Buffer.concat(kept);
  // An empty file has no line at all, yet reading it from the start is no mistake.
  if (bytes.length === 0 && !(first === 1 && lines === 0)) return { status: "past_end", lines };
  return { status: "found", bytes, complete: true };
}
