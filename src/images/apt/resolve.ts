import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { sha256OfFile } from "../files.js";
import { run } from "../process.js";
import { component, type ImageRecipe, suite } from "../recipe.js";
import type { PrivateApt } from "./config.js";
import { aptFailure } from "./failure.js";
import { PackageIndex, type PackageRecord, parseRelease, type Release } from "./index_file.js";
import { verifySigned } from "./signature.js";

/** Everything that an image is made of. */
export interface PackageSet {
  /** Date of the signed release, seconds since the epoch. */
  releaseDate: number;
  /** Installed in the image, sorted by name. */
  root: PackageRecord[];
  /** Used by the finishing boot only. */
  tools: PackageRecord[];
  kernel: PackageRecord;
  locales: PackageRecord;
}

/** Fetches the lists by apt, then checks them ourselves: signature, release, and the sum of the package index. */
export async function fetchIndex(apt: PrivateApt): Promise<{ release: Release; index: PackageIndex }> {
  const update = await run("apt-get", ["update", "-o", "APT::Update::Error-Mode=any"], { env: apt.env });
  if (update.code !== 0) throw aptFailure("fetching the package lists", `${update.stdout}\n${update.stderr}`);
  return cachedIndex(apt);
}

/** The lists that were fetched last, checked like fresh ones. Throws if there are none. */
export async function cachedIndex(apt: PrivateApt): Promise<{ release: Release; index: PackageIndex }> {
  const format = "$(FILENAME)|$(METAKEY)";
  const listed = await run("apt-get", ["indextargets", "--format", format, "Created-By: Packages"], {
    env: apt.env,
  });
  const [file = "", key = ""] = (listed.stdout.split("\n")[0] ?? "").split("|");
  const suffix = `_${component}_binary-${apt.architecture}_Packages`;
  if (!file.endsWith(suffix)) {
    throw new ShinkenError("image_build_failed", `the mirror has no package list for ${apt.architecture}`);
  }
  return readSignedIndex(`${file.slice(0, -suffix.length)}_InRelease`, file, key, apt.keys);
}

/** Reads a Packages file that a signed release vouches for. `key` is its path below the release's folder. */
export async function readSignedIndex(
  releaseFile: string,
  indexFile: string,
  key: string,
  keys: readonly string[],
): Promise<{ release: Release; index: PackageIndex }> {
  const release = parseRelease(await verifySigned(releaseFile, keys));
  if (release.codename !== suite) {
    throw new ShinkenError(
      "image_build_failed",
      `the mirror serves ${release.codename} where ${suite} was asked for`,
    );
  }
  const sum = release.sums.get(key);
  if (sum === undefined) throw new ShinkenError("hash_mismatch", `the signed release does not list ${key}`);
  const found = await sha256OfFile(indexFile);
  if (found.size !== sum.size || found.sha256 !== sum.sha256) {
    throw new ShinkenError("hash_mismatch", `${key} does not have the sum that the signed release states`);
  }
  return { release, index: new PackageIndex(await readFile(indexFile, "utf8")) };
}

/**
 * Names and versions that apt would install on an empty system for these packages. Simulated, for `--print-uris` passes
 * over what is already in the archive folder.
 */
async function closure(
  apt: PrivateApt,
  names: readonly string[],
): Promise<{ name: string; version: string }[]> {
  const args = ["install", "--simulate", "--yes", "--no-install-recommends", "-qq", ...names];
  const result = await run("apt-get", args, { env: apt.env });
  if (result.code !== 0) throw aptFailure("resolving the packages", `${result.stdout}\n${result.stderr}`);
  return parseSimulation(result.stdout);
}

/** Lines of a simulated installation: `Inst NAME (VERSION ORIGIN [ARCHITECTURE])`, beside others. */
export function parseSimulation(text: string): { name: string; version: string }[] {
  const found: { name: string; version: string }[] = [];
  for (const match of text.matchAll(/^Inst (\S+) \((\S+) /gm)) {
    found.push({ name: (match[1] ?? "").replace(/:\w+$/, ""), version: match[2] ?? "" });
  }
  return found;
}

/** Asks apt what the recipe needs today, and looks every package up in the signed index. */
export async function resolvePackages(
  apt: PrivateApt,
  recipe: ImageRecipe,
  release: Release,
  index: PackageIndex,
): Promise<PackageSet> {
  const need = (name: string, version: string): PackageRecord => {
    const entry = index.find(name, version);
    if (entry === undefined)
      throw new ShinkenError("image_build_failed", `the signed index has no ${name} ${version}`);
    return entry;
  };
  const only = (name: string): PackageRecord => {
    const entry = index.versions(name).at(-1);
    if (entry === undefined)
      throw new ShinkenError("image_build_failed", `the signed index has no package ${name}`);
    return entry;
  };
  const wanted = [...new Set([...index.essential, ...recipe.packages])].sort();
  const rootNames = await closure(apt, wanted);
  const withTools = await closure(apt, [...wanted, ...recipe.tools]);
  const inRoot = new Set(rootNames.map((entry) => entry.name));
  const kernelName = /^\s*(linux-image-[^\s(]+)/.exec(only(recipe.kernelPackage).depends)?.[1];
  if (kernelName === undefined) {
    throw new ShinkenError("image_build_failed", `${recipe.kernelPackage} does not lead to a kernel`);
  }
  return {
    releaseDate: release.date,
    root: sorted(rootNames.map((entry) => need(entry.name, entry.version))),
    tools: sorted(
      withTools.filter((entry) => !inRoot.has(entry.name)).map((entry) => need(entry.name, entry.version)),
    ),
    kernel: only(kernelName),
    locales: only("locales-all"),
  };
}

function sorted(records: PackageRecord[]): PackageRecord[] {
  return records.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Where apt and we keep a package's file; colons in versions are escaped as apt does it. */
export function archivePath(archives: string, record: PackageRecord): string {
  return join(archives, `${record.name}_${record.version.replaceAll(":", "%3a")}_${record.architecture}.deb`);
}
