/** Holds bundles against what the index, their own checksums and the content beside them say; changes nothing. */
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { filesAt } from "../files.js";
import { readBlob } from "../read/reader.js";
import { homeOf, type IndexLine, readIndex } from "./index-file.js";
import { livingOwner } from "./owner.js";
import { type Damage, scan } from "./scan.js";

export interface BundleCheck {
  file: string;
  /**
   * `whole`; `unindexed`: whole, but no index has its hash; `altered`: whole in itself, but not the file that the index tells of;
   * `damaged`: it cannot be read to its end; `incomplete`: content beside it is missing or damaged; `unfinished`: cut off, for `replay
   * recover`; `busy`: being written; `missing`: only the index knows it.
   */
  status: "whole" | "unindexed" | "altered" | "damaged" | "incomplete" | "unfinished" | "busy" | "missing";
  damage: Damage | null;
  /** Of the whole file, in hex: as it is, and as the index says. */
  sha256: string | null;
  indexed: string | null;
  /** Content beside it that is not as it should be, by its SHA-256. */
  blobs: { sha256: string; code: string; message: string }[];
}

/** What is no fault of a bundle. */
const sound = new Set<BundleCheck["status"]>(["whole", "unindexed", "busy"]);

export function isSound({ status }: BundleCheck): boolean {
  return sound.has(status);
}

/** Checks the bundles of a folder, or one. Rejects with what the file system says where a file cannot be read. */
export async function check(path: string): Promise<BundleCheck[]> {
  const files = (await filesAt(path)).map((file) => resolve(file));
  const indexes = new Map<string, Map<string, IndexLine>>();
  const checks: BundleCheck[] = [];
  const known = new Map<string, { code: string; message: string } | null>();
  for (const file of files) {
    const home = homeOf(file);
    if (home !== null && !indexes.has(home)) indexes.set(home, await readIndex(home));
    const line = home === null ? undefined : indexes.get(home)?.get(relative(home, file));
    checks.push(await checkOne(file, home, line, known));
  }
  if ((await stat(path)).isDirectory())
    for (const [file, line] of await readIndex(path))
      if (!existsSync(join(path, file)))
        checks.push({ ...unknown, file: resolve(path, file), status: "missing", indexed: line.sha256 });
  return checks;
}

const unknown = { damage: null, sha256: null, indexed: null, blobs: [] };

async function checkOne(
  file: string,
  home: string | null,
  line: IndexLine | undefined,
  known: Map<string, { code: string; message: string } | null>,
): Promise<BundleCheck> {
  const indexed = line?.sha256 ?? null;
  if (livingOwner(file) !== null) return { ...unknown, file, status: "busy", indexed };
  const { state, damage, sha256, blobs: refs } = await scan(file);
  const blobs: BundleCheck["blobs"] = [];
  for (const ref of home === null ? [] : refs) {
    const key = `${home} ${ref.kind} ${ref.bytes} ${ref.sha256}`;
    let fault = known.get(key);
    if (fault === undefined) {
      fault = await readBlob(home ?? "", ref).then(() => null, faultOf);
      known.set(key, fault);
    }
    if (fault !== null) blobs.push({ sha256: ref.sha256, ...fault });
  }
  const status = ((): BundleCheck["status"] => {
    if (state === "damaged") return "damaged";
    if (indexed !== null && sha256 !== indexed) return state === "cut" ? "damaged" : "altered";
    if (state === "cut") return "unfinished";
    if (blobs.length > 0) return "incomplete";
    return indexed === null ? "unindexed" : "whole";
  })();
  return { file, status, damage, sha256, indexed, blobs };
}

function faultOf(error: unknown): { code: string; message: string } {
  if (error instanceof ShinkenError) return { code: error.code, message: error.message };
  return { code: "internal", message: error instanceof Error ? error.message : String(error) };
}
