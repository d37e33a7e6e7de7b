/** What the commands on golden files have in common. */
import { listImages } from "../images/cache/images.js";
import type { GoldenFacts } from "../sandbox/microvm/addon.js";
import { storeError } from "../sandbox/microvm/golden-care.js";
import type { GoldenFile } from "../sandbox/microvm/golden-folder.js";
import { loadAddon } from "../sandbox/microvm/addon.js";
import { ShinkenError } from "../errors/index.js";

/** A golden as commands print it. `fault` is what is wrong with its file; then the facts are missing. */
export interface DescribedGolden extends GoldenFile {
  facts: GoldenFacts | null;
  /** Name of the image that it was made of; null if that is gone or unknown. */
  image: string | null;
  fault: { code: string; message: string } | null;
}

/** Reads what a file says of itself: all of it with `full`, everything but its pages with `index`. */
export async function describeGolden(file: GoldenFile, check: "full" | "index"): Promise<DescribedGolden> {
  try {
    const facts = await loadAddon().inspectGolden({ path: file.path, check });
    const names = new Map(listImages().map((image) => [image.digest, image.name]));
    const image = facts.disks.map((disk) => names.get(disk.identity)).find((name) => name !== undefined);
    return { ...file, facts, image: image ?? null, fault: null };
  } catch (error) {
    const described = storeError(error);
    if (described.code !== "golden_invalid") throw described;
    return { ...file, facts: null, image: null, fault: faultOf(error, described) };
  }
}

/** The native error's code names the part that is wrong: docs/golden.md. */
function faultOf(error: unknown, described: ShinkenError): { code: string; message: string } {
  const code = error instanceof Error && "code" in error ? String(error.code) : described.code;
  return { code, message: described.message };
}

export function mib(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}

/** Date and minute, UTC. */
export function minute(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 16).replace("T", " ");
}
