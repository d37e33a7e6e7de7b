import { ShinkenError } from "../errors/index.js";
import { preparePrivateApt } from "./apt/config.js";
import { downloadPackages, missingPackages } from "./apt/download.js";
import type { PackageRecord } from "./apt/index_file.js";
import { chooseMirror } from "./apt/mirror.js";
import { archivePath, fetchIndex, type PackageSet, resolvePackages } from "./apt/resolve.js";
import type { CacheLayout } from "./cache/folder.js";
import { fetchHostPython, type HostPython, inGuest, interpreterPackage } from "./python/host_python.js";
import type { Manifest, ManifestPackage } from "./manifest.js";
import type { ImageRecipe } from "./recipe.js";
import type { BuildOptions, ImageProgress } from "./types.js";

/** The packages of an image, on disk and checked. */
export interface FetchedPackages {
  set: PackageSet;
  /** Compiles the image's Python modules; null where the finishing boot must do it, or there are none. */
  python: HostPython | null;
  deb: (record: PackageRecord) => string;
}

function all(set: PackageSet): PackageRecord[] {
  return [...set.root, ...set.tools, set.kernel, set.locales];
}

function toRecord(entry: ManifestPackage): PackageRecord {
  return { ...entry, essential: false, depends: "" };
}

/** The packages that a manifest names. */
export function lockedSet(manifest: Manifest): PackageSet {
  return {
    releaseDate: manifest.releaseDate,
    root: manifest.packages.map(toRecord),
    tools: manifest.tools.map(toRecord),
    kernel: toRecord(manifest.kernelPackage),
    locales: toRecord(manifest.localesPackage),
  };
}

/** Those of the missing packages that the index no longer lists in the same bytes. */
export function gonePackages(
  missing: readonly PackageRecord[],
  index: { find(name: string, version: string): PackageRecord | undefined },
): PackageRecord[] {
  return missing.filter((record) => index.find(record.name, record.version)?.sha256 !== record.sha256);
}

/**
 * Decides which packages an image gets and brings them into the cache. Without a lock: what the signed release lists
 * today. With a former image's manifest: exactly its packages, from the cache where they are there, without asking anybody.
 */
export async function fetchPackages(
  layout: CacheLayout,
  recipe: ImageRecipe,
  former: Manifest | undefined,
  options: BuildOptions,
  report: (event: ImageProgress) => void,
  keys?: readonly string[],
): Promise<FetchedPackages> {
  const say = (done: number, total: number, text: string): void => {
    report({ stage: "packages", done, total, text });
  };
  const mirror = await chooseMirror(options.mirror);
  const apt = await preparePrivateApt(layout.debian, mirror.url, keys);
  const deb = (record: PackageRecord): string => archivePath(apt.archives, record);

  const hostPython = async (set: PackageSet): Promise<HostPython | null> => {
    const interpreter = interpreterPackage(set.root);
    if (interpreter === undefined || options.guestPython === true) return null;
    try {
      return await fetchHostPython(layout.debianHost, mirror.url, keys, interpreter);
    } catch (error) {
      say(1, 1, `${inGuest}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  };

  if (former !== undefined) {
    const set = lockedSet(former);
    const missing = await missingPackages(apt.archives, all(set));
    if (missing.length > 0) {
      say(0, 0, `package lists from ${mirror.url}`);
      const gone = gonePackages(missing, (await fetchIndex(apt)).index);
      if (gone.length > 0) {
        const names = gone.map((record) => `${record.name} ${record.version}`).join(", ");
        throw new ShinkenError("image_build_failed", `the mirror no longer has these packages: ${names}`, {
          suggestion: "SHINKEN_DEBIAN_MIRROR can name an archive of that date",
        });
      }
    }
    await downloadPackages(apt, all(set), say);
    return { set, deb, python: await hostPython(set) };
  }

  say(0, 0, `package lists from ${mirror.url}`);
  const { release, index } = await fetchIndex(apt);
  const set = await resolvePackages(apt, recipe, release, index);
  await downloadPackages(apt, all(set), say);
  return { set, deb, python: await hostPython(set) };
}
