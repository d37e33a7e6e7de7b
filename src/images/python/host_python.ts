import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { preparePrivateApt } from "../apt/config.js";
import { downloadPackages, missingPackages } from "../apt/download.js";
import type { PackageIndex, PackageRecord } from "../apt/index_file.js";
import { archivePath, cachedIndex, fetchIndex } from "../apt/resolve.js";
import { asset } from "../assets.js";
import type { TarEntry } from "../deb/tar.js";
import { run } from "../process.js";
import type { PythonSource } from "./sources.js";

/** Said, with the reason, when the host does not do what this file is for. */
export const inGuest = "Python modules will be compiled in the guest";

/** What Debian calls the host's processor, and its program loader. */
const hosts: Readonly<Record<string, { architecture: string; libraries: string; loader: string }>> = {
  x64: { architecture: "amd64", libraries: "usr/lib/x86_64-linux-gnu", loader: "ld-linux-x86-64.so.2" },
  arm64: { architecture: "arm64", libraries: "usr/lib/aarch64-linux-gnu", loader: "ld-linux-aarch64.so.1" },
};

/** The image's own Python, built for the host, as packages in the cache. */
export interface HostPython {
  debs: string[];
  /** Name of the program, e.g. `python3.13`. */
  program: string;
  host: { libraries: string; loader: string };
}

/** The package that holds the image's interpreter, e.g. python3.13-minimal; undefined for an image without Python. */
export function interpreterPackage(root: readonly PackageRecord[]): PackageRecord | undefined {
  return root.find((record) => /^python3\.\d+-minimal$/.test(record.name));
}

/** A version without the mark of a rebuild that changed no source, which each architecture has of its own. */
function sourceVersion(version: string): string {
  return version.replace(/\+b\d+$/, "");
}

/** The host's counterparts of the image's interpreter; throws if the index does not list its version. */
function hostPackages(index: PackageIndex, interpreter: PackageRecord): PackageRecord[] {
  const names = ["libc6", "zlib1g", "libexpat1", `lib${interpreter.name}`, interpreter.name];
  const records = names.map((name) => {
    const found = index.versions(name).at(-1);
    if (found === undefined) throw new ShinkenError("image_build_failed", `the signed index has no ${name}`);
    return found;
  });
  const version = records.at(-1)?.version ?? "";
  if (sourceVersion(version) !== sourceVersion(interpreter.version)) {
    throw new ShinkenError(
      "image_build_failed",
      `the host's Python would be ${version}, the image's is ${interpreter.version}`,
    );
  }
  return records;
}

/**
 * Fetches the image's Python for the host's processor: byte-compiling the library takes the guest 11.1 G
 * instructions, the host two seconds, and the bytes are the same. Signed and checked like everything else; nobody is
 * asked where the lists and packages of a former build serve. Throws if that is not possible here; the finishing boot
 * then compiles by itself.
 */
export async function fetchHostPython(
  folder: string,
  mirror: string,
  keys: readonly string[] | undefined,
  interpreter: PackageRecord,
): Promise<HostPython> {
  const host = hosts[process.arch];
  if (host === undefined)
    throw new ShinkenError("host_unsupported", `no Python for a host of kind ${process.arch}`);
  const apt = await preparePrivateApt(folder, mirror, keys, host.architecture);
  const known = await cachedIndex(apt)
    .then(({ index }) => hostPackages(index, interpreter))
    .catch(() => undefined);
  const complete = known !== undefined && (await missingPackages(apt.archives, known)).length === 0;
  const records = complete ? known : hostPackages((await fetchIndex(apt)).index, interpreter);
  if (!complete) await downloadPackages(apt, records, () => undefined);
  return {
    debs: records.map((record) => archivePath(apt.archives, record)),
    program: interpreter.name.replace(/-minimal$/, ""),
    host,
  };
}

/**
 * Byte-compiles modules in `folder` with the fetched Python, and gives the files to add to the image, dated `mtime`.
 * Throws if the program does not run here.
 */
export async function compileOnHost(
  folder: string,
  python: HostPython,
  sources: readonly PythonSource[],
  mtime: number,
): Promise<TarEntry[]> {
  const [tools, tree] = [join(folder, "python"), join(folder, "modules-tree")];
  for (const path of [tools, join(tree, "usr/lib"), join(tree, "usr/share")])
    mkdirSync(path, { recursive: true });
  for (const deb of python.debs) {
    const unpacked = await run("dpkg-deb", ["--extract", deb, tools]);
    if (unpacked.code !== 0)
      throw new ShinkenError("image_build_failed", `dpkg-deb: ${unpacked.stderr.trim()}`);
  }
  for (const source of sources) {
    const file = join(tree, source.path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, source.data);
    utimesSync(file, source.mtime, source.mtime);
  }
  const libraries = join(tools, python.host.libraries);
  const args = [
    ...["--library-path", libraries, join(tools, "usr/bin", python.program)],
    ...["-S", "-B", asset("guest", "compile_all.py"), tree],
  ];
  const env = { PYTHONHASHSEED: "0", PYTHONHOME: join(tools, "usr"), LC_ALL: "C.UTF-8" };
  const result = await run(join(libraries, python.host.loader), args, { env });
  if (result.code !== 0)
    throw new ShinkenError(
      "image_build_failed",
      `byte-compiling on the host: ${result.stderr.trim().slice(-500)}`,
    );
  return readdirSync(tree, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".pyc"))
    .sort()
    .map((path) => ({
      name: `./${path}`,
      type: "file",
      mode: 0o644,
      uid: 0,
      gid: 0,
      mtime,
      link: "",
      major: 0,
      minor: 0,
      data: readFileSync(join(tree, path)),
    }));
}
