import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import type { PackageRecord } from "../apt/index_file.js";
import { FinishingConsole } from "../boot/finishing_console.js";
import { readKernel } from "../boot/kernel.js";
import { trimErofs } from "../erofs.js";
import { BatchWriter, diskFull, sha256, sha256OfFile } from "../files.js";
import { formatJson, type ManifestPackage, type RootRecord } from "../manifest.js";
import { compileOnHost, type HostPython, inGuest } from "../python/host_python.js";
import type { PythonSource } from "../python/sources.js";
import type { FetchedPackages } from "../packages.js";
import { appendFinish, type ImageRecipe, recipeVersion, suite } from "../recipe.js";
import { recipeDigest } from "../recipe_digest.js";
import type { FinishingBoot, ImageProgress } from "../types.js";
import { uuidOf, writeFinishingRoot } from "./finishing_root.js";

const daySeconds = 86_400;

function entry(record: PackageRecord): ManifestPackage {
  const { name, version, sha256: sum, size, filename } = record;
  return {
    name,
    version,
    architecture: record.architecture === "all" ? "all" : "riscv64",
    sha256: sum,
    size,
    filename,
  };
}

/** The key under which a root is cached: a digest of everything that its bytes depend on. */
export function rootKey(recipe: ImageRecipe, packages: FetchedPackages["set"]): string {
  const list = (records: readonly PackageRecord[]): string[] =>
    records.map((record) => `${record.name} ${record.version} ${record.sha256}`);
  const { root, tools, kernel, locales, releaseDate } = packages;
  const parts = [recipeDigest(recipe), releaseDate, list(root), list(tools), list([kernel, locales])];
  return sha256(JSON.stringify(parts));
}

/**
 * Builds a root in `folder`: root.erofs, kernel, modules/, root.json. Runs the finishing boot once.
 * Throws `image_build_failed`, or the file system's error.
 */
export async function buildRoot(
  folder: string,
  recipe: ImageRecipe,
  packages: FetchedPackages,
  runBoot: FinishingBoot,
  report: (event: ImageProgress) => void,
): Promise<RootRecord> {
  const { set, deb, python } = packages;
  const key = rootKey(recipe, set);
  // The start of the day: dates of a day's precision in /etc/shadow then never depend on how long it took.
  const epoch = Math.floor(set.releaseDate / daySeconds) * daySeconds;
  const totalBytes = [...set.root, ...set.tools, set.kernel].reduce((sum, record) => sum + record.size, 0);
  let doneBytes = 0;
  const passed = (name: string, bytes: number): void => {
    doneBytes += bytes;
    report({ stage: "tree", done: doneBytes, total: totalBytes, text: name });
  };

  const compile = (work: string, by: HostPython) => (sources: readonly PythonSource[]) =>
    compileOnHost(work, by, sources, epoch).catch((error: unknown) => {
      if (!(error instanceof ShinkenError)) throw error;
      // Without byte code in the tree, the guest compiles by itself.
      const text = `${inGuest}: ${error.message}`;
      report({ stage: "tree", done: doneBytes, total: totalBytes, text });
      return [];
    });

  const kernelRead = readKernel(deb(set.kernel), recipe.modules).then((parts) => {
    passed(set.kernel.name, set.kernel.size);
    return parts;
  });
  const modules = kernelRead.then((parts) => parts.modules);
  // Awaited below; an earlier failure of the tree must not leave them unhandled.
  modules.catch(() => undefined);
  const paths = {
    kernel: join(folder, "kernel"),
    finish: join(folder, "finish.cpio"),
    root: join(folder, "root.erofs"),
  };
  const writer = await BatchWriter.create(paths.finish);
  try {
    await writeFinishingRoot(
      {
        root: set.root.map((record) => ({ record, deb: deb(record) })),
        tools: set.tools.map((record) => ({ record, deb: deb(record) })),
        locales: { deb: deb(set.locales), names: recipe.locales },
        hooks: recipe.hooks ?? [],
        modules,
        epoch,
        uuid: uuidOf(key),
        onPackage: passed,
        compile: python === null ? null : compile(join(folder, "python"), python),
      },
      (piece) => writer.write(piece),
    );
    await writer.flush();
  } finally {
    await writer.close();
    await kernelRead.catch(() => undefined);
  }
  const kernel = await kernelRead;
  writeFileSync(paths.kernel, kernel.image);
  mkdirSync(join(folder, "modules"));
  for (const module of kernel.modules)
    writeFileSync(join(folder, "modules", `${module.name}.ko`), module.data);

  const rootBytes = await finish(paths, recipe, set.root.length, runBoot, report);
  const record: RootRecord = {
    format: 1,
    name: recipe.name,
    recipeVersion,
    rootKey: key,
    suite,
    releaseDate: set.releaseDate,
    packages: set.root.map(entry),
    tools: set.tools.map(entry),
    kernelPackage: entry(set.kernel),
    localesPackage: entry(set.locales),
    modules: kernel.modules.map((module) => module.name),
    files: {
      kernel: { sha256: sha256(kernel.image), size: kernel.image.length },
      root: { sha256: (await sha256OfFile(paths.root)).sha256, size: rootBytes },
    },
  };
  writeFileSync(join(folder, "root.json"), formatJson(record));
  return record;
}

async function finish(
  paths: { kernel: string; finish: string; root: string },
  recipe: ImageRecipe,
  packageCount: number,
  runBoot: FinishingBoot,
  report: (event: ImageProgress) => void,
): Promise<number> {
  const sizeBytes = recipe.diskMiB * 1024 * 1024;
  const disk = await open(paths.root, "wx");
  try {
    await disk.truncate(sizeBytes);
  } finally {
    await disk.close();
  }
  const output = new FinishingConsole((text, done) => {
    report({ stage: "boot", done, total: packageCount, text });
  });
  const initrdBytes = (await stat(paths.finish)).size;
  report({
    stage: "boot",
    done: 0,
    total: packageCount,
    text: `finishing boot, initial root of ${Math.round(initrdBytes / 1e6)} MB`,
  });
  const outcome = await runBoot({
    kernel: paths.kernel,
    initrd: paths.finish,
    append: appendFinish,
    memoryMiB: recipe.finishMemoryMiB,
    disk: { path: paths.root, sizeBytes, writable: true },
    onConsole: (text) => {
      output.write(text);
    },
  });
  if (output.diskFault) throw refusedWrite(paths.root, output.tail());
  if (!outcome.ok || output.failure !== undefined || output.headSha256 === undefined) {
    const reason =
      output.failure ?? (outcome.ok ? "the machine stopped before it had finished" : outcome.reason);
    throw new ShinkenError("image_build_failed", `the finishing boot failed: ${reason}\n${output.tail()}`);
  }
  return trimErofs(paths.root, output.headSha256);
}

/** Free space below which a refused write is taken for a full disk, bytes. */
const nearlyFull = 64e6;

/** The host refused a write of the guest to its disk: most likely because it is full. */
function refusedWrite(disk: string, console: string): ShinkenError {
  const { bavail, bsize } = statfsSync(disk);
  if (bavail * bsize < nearlyFull) return diskFull("a machine's disk could not be written");
  return new ShinkenError(
    "image_build_failed",
    `the finishing boot failed: the host could not write the machine's disk ${disk}\n${console}`,
  );
}
