import { posix } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import type { TarEntry } from "../deb/tar.js";

const folder = "usr/lib/locale";

/**
 * Takes the named locales out of the members of locales-all: their folders and files, a link replaced by the file at
 * its end, which stands in the folder of some other locale.
 */
export function pickLocales(entries: readonly TarEntry[], locales: readonly string[]): TarEntry[] {
  const byPath = new Map(
    entries.map((entry) => [posix.normalize(`/${entry.name}`).slice(1).replace(/\/$/, ""), entry]),
  );
  const picked: TarEntry[] = [];
  for (const locale of locales) {
    const root = `${folder}/${locale}`;
    if (!byPath.has(root))
      throw new ShinkenError("image_build_failed", `locales-all holds no locale ${locale}`);
    for (const [path, entry] of byPath) {
      if (path !== root && !path.startsWith(`${root}/`)) continue;
      picked.push(entry.type === "directory" ? entry : { ...resolve(byPath, path), name: entry.name });
    }
  }
  return picked;
}

/** Longest chain of links that is followed. */
const maxLinks = 16;

function resolve(byPath: ReadonlyMap<string, TarEntry>, start: string): TarEntry {
  let path = start;
  for (let i = 0; i < maxLinks; i++) {
    const entry = byPath.get(path);
    if (entry?.type === "file") return entry;
    if (entry?.type === "symlink") path = posix.normalize(posix.join(posix.dirname(path), entry.link));
    else if (entry?.type === "hardlink") path = posix.normalize(`/${entry.link}`).slice(1);
    else break;
  }
  throw new ShinkenError("image_build_failed", `locales-all: ${start} leads nowhere`);
}
