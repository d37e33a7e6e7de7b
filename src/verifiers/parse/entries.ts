/** Archives as what they hold, whatever their format. */
import { ContentFault } from "../value.js";

/** Entries of one archive. */
export const ENTRY_COUNT = 20_000;
/** Bytes of one entry that is read. */
export const ENTRY_LIMIT = 64 * 1024 * 1024;

export type EntryKind = "file" | "directory" | "symlink" | "hardlink" | "fifo" | "char" | "block";

export interface ArchiveEntry {
  /** Without `./` ahead and `/` behind. */
  name: string;
  kind: EntryKind;
  /** Bytes of a file, as the archive says; `read` holds it to that. */
  size: number;
  /** Where a link leads. Throws `ContentFault`. */
  target: () => string | undefined;
  /** A file's bytes. Throws `ContentFault`. */
  read: () => Uint8Array;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A name's bytes to text. Throws `ContentFault`. */
export function decodeName(bytes: Uint8Array, what: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    const shown = Buffer.from(bytes.subarray(0, 80)).toString("latin1");
    throw new ContentFault(`${what} has a name that is not valid UTF-8: ${JSON.stringify(shown)}`);
  }
}

/**
 * A name as it is known by: `./a/b/` and `a/b` are the same. Throws `ContentFault` for one that leads out of the archive or that
 * unpackers read in different ways.
 */
export function plainName(name: string, what: string): string {
  const parts = name.split("/").filter((part, index, all) => {
    const last = index === all.length - 1;
    return part !== "." && !(part === "" && (last || index > 0));
  });
  const bad = name.startsWith("/") || parts.includes("..") || name.includes("\0");
  if (bad || name === "")
    throw new ContentFault(
      `${what} has the name ${JSON.stringify(name.slice(0, 200))}, which may lead out of it`,
    );
  return parts.join("/");
}

/** The entries by name, in the order of names. A name that stands twice is refused, but for folders. */
export function sortEntries(entries: readonly ArchiveEntry[], what: string): ArchiveEntry[] {
  const named = new Map<string, ArchiveEntry>();
  for (const entry of entries) {
    if (entry.name === "") continue;
    const before = named.get(entry.name);
    if (before !== undefined && !(before.kind === "directory" && entry.kind === "directory"))
      throw new ContentFault(`${what} holds ${JSON.stringify(entry.name)} twice`);
    named.set(entry.name, entry);
  }
  return [...named.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
