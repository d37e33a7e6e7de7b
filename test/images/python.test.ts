import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { asset } from "../../src/images/assets.js";
import { interpreterPackage } from "../../src/images/python/host_python.js";
import { PythonSources } from "../../src/images/python/sources.js";
import type { PackageRecord } from "../../src/images/apt/index_file.js";
import { listImages } from "../../src/images/index.js";
import type { BuildOptions } from "../../src/images/types.js";
import { readCpio } from "./support/cpio_reader.js";
import { fileEntry, linkEntry } from "./support/tar_entry.js";
import { scratchFolder, type TinyDeb } from "./support/tiny_deb.js";
import { fakeBoot, tinyPackages } from "./support/tiny_mirror.js";
import { tinyWorld, worldMark, worldObstacle } from "./support/tiny_world.js";

const folder = scratchFolder();
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("the Python modules of an image", () => {
  it("are those of the libraries, a link with the content and time of its target", () => {
    const sources = new PythonSources();
    sources.add([
      fileEntry("./usr/lib/python3.13/os.py", "os"),
      fileEntry("./usr/lib/python3.13/json/tool.py", "tool"),
      fileEntry("./usr/lib/python3/dist-packages/x.py", "x"),
      fileEntry("./usr/lib/python3.13/data.txt", "no"),
      fileEntry("./usr/share/other/y.py", "no"),
      linkEntry("./usr/lib/python3.13/sitecustomize.py", "/etc/python3.13/sitecustomize.py"),
      linkEntry("./usr/lib/python3.13/lost.py", "nowhere.py"),
    ]);
    sources.add([fileEntry("./etc/python3.13/sitecustomize.py", "site", 200)]);
    expect(sources.list().map((source) => [source.path, source.data.toString(), source.mtime])).toEqual([
      ["usr/lib/python3.13/json/tool.py", "tool", 100],
      ["usr/lib/python3.13/os.py", "os", 100],
      ["usr/lib/python3.13/sitecustomize.py", "site", 200],
      ["usr/lib/python3/dist-packages/x.py", "x", 100],
    ]);
  });

  it("are compiled by the image's own interpreter", () => {
    const record = (name: string): PackageRecord => ({
      name,
      version: "1",
      architecture: "all",
      filename: "",
      size: 1,
      sha256: "",
      essential: false,
      depends: "",
    });
    expect(interpreterPackage([record("python3-minimal"), record("python3.13-minimal")])?.name).toBe(
      "python3.13-minimal",
    );
    expect(interpreterPackage([record("bash")])).toBeUndefined();
  });

  const hasPython =
    spawnSync("python3", ["-c", "from importlib._bootstrap_external import _code_to_timestamp_pyc"])
      .status === 0;
  it.skipIf(!hasPython)("are compiled to the same bytes each time, and Python takes them", () => {
    const program = "def f(x):\n    return {'a', 'b', x} & {1, 2, 3}\n";
    const compiled = ["one", "two"].map((name) => {
      const root = join(folder, name);
      for (const path of [
        "usr/lib/python3.99/pkg/mod.py",
        "usr/lib/python3.99/top.py",
        "usr/share/python3/tool.py",
      ]) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), program);
        utimesSync(join(root, path), 1000, 1000);
      }
      execFileSync("python3", ["-S", "-B", asset("guest", "compile_all.py"), root], {
        env: { ...process.env, PYTHONHASHSEED: "0" },
      });
      const paths = readdirSync(root, { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".pyc"))
        .sort();
      return paths.map((path) => [path, readFileSync(join(root, path)).toString("hex")]);
    });
    expect(compiled[0]?.length).toBe(3);
    expect(compiled[1]).toEqual(compiled[0]);
    // Python rewrites a file whose recorded time or size does not fit the source; this one it leaves as it is.
    const library = join(folder, "one", "usr/lib/python3.99");
    const before = compiled[0]?.find(([path]) => path?.includes("top"))?.[1];
    const shown = execFileSync("python3", ["-v", "-c", "import top; print(top.f(1))"], {
      env: { ...process.env, PYTHONPATH: library },
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(shown.toString()).toContain("{1}");
    const [cached = ""] = readdirSync(join(library, "__pycache__")).filter((name) => name.startsWith("top"));
    expect(readFileSync(join(library, "__pycache__", cached)).toString("hex")).toBe(before);
  });
});

const processors: Partial<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
const processor = processors[process.arch];

describe.skipIf(worldObstacle !== null || processor === undefined)(
  `where the host cannot compile them${worldMark}`,
  () => {
    const world = tinyWorld();
    const interpreter: TinyDeb = {
      name: "python3.99-minimal",
      files: { "usr/lib/python3.99/os.py": { data: "x = 1\n" } },
    };
    const withPython = tinyPackages().map((each) =>
      each.name === "extra"
        ? { ...each, fields: { ...each.fields, Depends: "libextra, python3.99-minimal" } }
        : each,
    );
    /** Packages for the host's processor whose program does not run. */
    const forHost = ["libc6", "zlib1g", "libexpat1", "libpython3.99-minimal", "python3.99-minimal"].map(
      (name): TinyDeb => ({
        name,
        fields: { Architecture: processor ?? "" },
        files: { [`usr/share/${name}`]: { data: "not a program" } },
      }),
    );
    const texts: string[] = [];
    const build = async (options: Partial<BuildOptions> = {}): Promise<void> => {
      const seen: { initrd: Buffer[] } = { initrd: [] };
      texts.length = 0;
      await world.build({
        runFinishingBoot: fakeBoot(seen),
        onProgress: ({ text }) => texts.push(text),
        ...options,
      });
      const paths = seen.initrd.flatMap((initrd) => readCpio(initrd).map((member) => member.path));
      expect(paths).toContain("target/usr/lib/python3.99/os.py");
      expect(paths).toContain("target/var/tmp/finish/compile_all.py");
      expect(paths.filter((path) => path.endsWith(".pyc"))).toEqual([]);
    };
    const reason = (): string => texts.find((text) => text.includes("compiled in the guest")) ?? "";

    it("for there is no Python for it, they are left to the guest", async () => {
      world.mirror.publish([...withPython, interpreter]);
      await build();
      expect(reason()).toContain(`has no package list for ${processor}`);
    });

    it("for its Python does not run, they are left to the guest", async () => {
      world.mirror.publish([...withPython, interpreter, ...forHost]);
      await build();
      expect(reason()).toMatch(/needs the program .*ld-linux/);
    });

    it("for its Python has another version, they are left to the guest", async () => {
      const newer = forHost.map((each) => ({ ...each, fields: { ...each.fields, Version: "2.0-1" } }));
      world.mirror.publish([...withPython, interpreter, ...newer]);
      await build();
      expect(reason()).toContain("the host's Python would be 2.0-1, the image's is 1.0-1");
    });

    it("for it is told not to, they are left to the guest and nothing is fetched for the host", async () => {
      world.mirror.publish([...withPython, interpreter, ...forHost]);
      await build({ guestPython: true });
      expect(world.mirror.requests.filter((path) => path.includes(processor ?? ""))).toEqual([]);
    });

    it("asks nobody for the host's Python that is in the cache", async () => {
      world.mirror.publish([...withPython, interpreter, ...forHost]);
      await build();
      const [manifest] = listImages(world.cacheDir).map((image) => image.manifest);
      const former = `${world.cacheDir}-manifest.json`;
      copyFileSync(manifest ?? "", former);
      for (const name of ["roots", "images"]) rmSync(join(world.cacheDir, name), { recursive: true });
      world.mirror.requests.length = 0;
      await build({ locked: former });
      expect(world.mirror.requests).toEqual([]);
      expect(reason()).toContain("needs the program");
    });
  },
);
