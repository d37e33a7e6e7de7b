/**
 * Verdicts on recorded episodes: one JSON object a line, only ever appended to. A later grading never replaces an earlier one: which
 * verifier and which runtime gave a verdict is part of what it is.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { isDiskFull } from "../../errors/disk.js";
import { ShinkenError } from "../../errors/index.js";
import { verdictRecord } from "../calibration/record.js";

/** Name of the file in a folder of bundles. */
export const verdictFile = "verdicts.jsonl";

const line = z.looseObject({
  episode: z.string().min(1),
  file: z.string(),
  /** Of the bundle that was graded, in hex. */
  sha256: z.string(),
  task: z.string(),
  task_version: z.string(),
  /** Digest of graph and modules. */
  verifier: z.string(),
  /** Name and version of the program that graded. */
  runtime: z.string(),
  /** How the end state was had. */
  by: z.enum(["rerun", "state"]),
  /** Always `regraded`: what a session's own evaluate said stands in its bundle. */
  provenance: z.literal("regraded"),
  verdict: verdictRecord,
});
export type VerdictLine = z.output<typeof line>;

/** What makes two gradings the same one. */
export function gradingKey(one: Pick<VerdictLine, "episode" | "verifier" | "runtime">): string {
  return [one.episode, one.verifier, one.runtime].join(" ");
}

export class VerdictStore {
  readonly path: string;
  #fd: number | null = null;

  /** The store of a folder; nothing is opened before the first line. */
  constructor(folder: string) {
    this.path = join(folder, verdictFile);
  }

  /** All lines, in the order in which they were written. What a kill cut short is left out. */
  async lines(): Promise<VerdictLine[]> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
    return text.split("\n").flatMap((one) => {
      const parsed = line.safeParse(asJson(one));
      return parsed.success ? [parsed.data] : [];
    });
  }

  /** Appends a line in one write. @throws ShinkenError `disk_full`, or `recording_failed` for another fault of the file system. */
  append(one: VerdictLine): void {
    try {
      this.#fd ??= openForAppend(this.path);
      writeSync(this.#fd, `${JSON.stringify(one)}\n`);
    } catch (cause) {
      const { message } = cause as Error;
      const full = isDiskFull(cause);
      throw new ShinkenError(full ? "disk_full" : "recording_failed", `${this.path}: ${message}`, { cause });
    }
  }

  /** Waits until the disk has it all. Idempotent. */
  close(): void {
    if (this.#fd === null) return;
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    this.#fd = null;
  }
}

/** Begins on a line of its own, whatever a killed process left. */
function openForAppend(path: string): number {
  const fd = openSync(path, "a+", 0o600);
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  if (size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last.toString() !== "\n") writeSync(fd, "\n");
  return fd;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Where the verdicts on a bundle, or on those in a folder, go unless somebody says otherwise. */
export async function storeFolder(path: string): Promise<string> {
  return (await stat(path)).isDirectory() ? path : dirname(dirname(resolve(path)));
}
