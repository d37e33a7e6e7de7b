/** Takes a golden file that somebody else made into the folder: verified whole under a temporary name, or not at all. */
import { randomUUID } from "node:crypto";
import { mkdir, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { pointName } from "../../images/cache/folder.js";
import { type GoldenFacts, loadAddon } from "./addon.js";
import { GOLDEN_BUDGET, prune, storeError } from "./golden-care.js";
import { keyPath, statePath } from "./golden-folder.js";
import type { ExpectedGolden } from "./golden-key.js";
import { noteOf } from "./golden-note.js";

/** A file holds at most one body a page, what names it, and where its blocks begin, which takes no more than the page. */
const FILE_BYTES_PER_MEMORY_BYTE = 2;
/** Header, hart, board, note and tables. */
const FILE_BYTES_BESIDE = 64 * 1024 ** 2;

/** Bytes that no golden of such a memory exceeds. */
export function largestGolden(memoryMiB: number): number {
  return memoryMiB * 1024 ** 2 * FILE_BYTES_PER_MEMORY_BYTE + FILE_BYTES_BESIDE;
}

/** The file of that key; null if there is none. */
export async function heldGolden(folder: string, key: string): Promise<string | null> {
  return realpath(keyPath(folder, key)).catch(() => null);
}

/**
 * Has `write` make the file at a path of its own, checks all of it against `state` and what is expected, and only then gives it its name.
 * Whoever does the same at the same time, in whatever process, has a path of his own; the last one's file stays, and all are alike.
 * `write` leaves the file synced. Rejects with its error, or with `golden_transfer` where the file is another golden or none.
 */
export async function adoptGolden(
  folder: string,
  expected: ExpectedGolden,
  state: string,
  write: (path: string) => Promise<void>,
): Promise<GoldenFacts> {
  const link = keyPath(folder, expected.key);
  await mkdir(dirname(link), { recursive: true });
  const place = statePath(folder, state);
  const fresh = `${place}.tmp.${randomUUID()}`;
  try {
    await write(fresh);
    const facts = await verified(fresh, expected, state);
    await rename(fresh, place);
    pointName(link, join("..", `${state}.golden`));
    await prune(folder, GOLDEN_BUDGET, state);
    return facts;
  } finally {
    await rm(fresh, { force: true });
  }
}

async function verified(path: string, expected: ExpectedGolden, state: string): Promise<GoldenFacts> {
  const facts = await loadAddon()
    .inspectGolden({ path, check: "full" })
    .catch((error: unknown) => {
      const described = storeError(error);
      throw described.code === "golden_invalid" ? wrong(described.message) : described;
    });
  const { machineAbi } = loadAddon();
  if (facts.digest !== state) throw wrong(`its state is ${facts.digest}, not ${state}`);
  if (facts.machineAbi !== machineAbi)
    throw wrong(`it is of machine_abi ${facts.machineAbi}, not ${machineAbi}`);
  if (facts.memoryBytes !== expected.memoryMiB * 1024 ** 2)
    throw wrong(`its memory has ${facts.memoryBytes} bytes`);
  if (facts.disks.length !== 1 || facts.disks[0]?.identity !== expected.image)
    throw wrong("it stands on another image");
  try {
    noteOf(facts.note);
  } catch (cause) {
    throw wrong("its note does not say where its agent stands", cause);
  }
  return facts;
}

function wrong(message: string, cause?: unknown): ShinkenError {
  return new ShinkenError("golden_transfer", `the file is not the golden that was asked for: ${message}`, {
    cause,
  });
}
