import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { requireSpace, sha256OfFile } from "../files.js";
import { run } from "../process.js";
import type { PrivateApt } from "./config.js";
import { aptFailure } from "./failure.js";
import type { PackageRecord } from "./index_file.js";
import { archivePath } from "./resolve.js";

/** How often the folder is looked at for progress, milliseconds. */
const progressInterval = 250;

/** Whether a package's file is there with the size and sum that the index states. */
async function isGood(file: string, record: PackageRecord): Promise<boolean> {
  const size = await stat(file).then(
    (info) => info.size,
    () => -1,
  );
  return size === record.size && (await sha256OfFile(file)).sha256 === record.sha256;
}

/** Those of the packages whose file is missing or wrong; wrong ones are removed. */
export async function missingPackages(
  archives: string,
  records: readonly PackageRecord[],
): Promise<PackageRecord[]> {
  const missing: PackageRecord[] = [];
  for (const record of records) {
    const file = archivePath(archives, record);
    if (await isGood(file, record)) continue;
    await rm(file, { force: true });
    missing.push(record);
  }
  return missing;
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (info) => info.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Fetches packages by apt into the archive folder and checks each file against the signed index. What is there with the
 * right sum is not fetched again, and apt goes on with a file that broke off.
 * Throws `hash_mismatch`, `disk_full` or `image_build_failed`.
 */
export async function downloadPackages(
  apt: PrivateApt,
  records: readonly PackageRecord[],
  onBytes: (done: number, total: number, text: string) => void,
): Promise<void> {
  const total = records.reduce((sum, record) => sum + record.size, 0);
  const missing = await missingPackages(apt.archives, records);
  if (missing.length === 0) {
    onBytes(total, total, `${records.length} packages, all in the cache`);
    return;
  }
  const missingBytes = missing.reduce((sum, record) => sum + record.size, 0);
  // apt would try each package several times before it gave up.
  requireSpace(apt.archives, missingBytes, "the packages need");
  const text = `${missing.length} of ${records.length} packages to fetch`;
  const before = await bytesIn(apt.archives);
  const report = async (): Promise<void> => {
    const fetched = (await bytesIn(apt.archives)) - before + (await bytesIn(join(apt.archives, "partial")));
    onBytes(total - missingBytes + Math.max(0, Math.min(fetched, missingBytes)), total, text);
  };
  const timer = setInterval(() => void report().catch(() => undefined), progressInterval);
  try {
    const names = missing.map((record) => `${record.name}=${record.version}`);
    const result = await run("apt-get", ["download", "-q", ...names], { env: apt.env, cwd: apt.archives });
    if (result.code !== 0) throw aptFailure("fetching packages", `${result.stdout}\n${result.stderr}`);
  } finally {
    clearInterval(timer);
  }
  const wrong = await missingPackages(apt.archives, missing);
  if (wrong.length > 0) {
    const names = wrong.map((record) => `${record.name} ${record.version}`).join(", ");
    throw new ShinkenError(
      "hash_mismatch",
      `these packages do not have the sum that the signed index states: ${names}`,
    );
  }
  onBytes(total, total, `${missing.length} packages fetched`);
}
