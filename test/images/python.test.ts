import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { asset } from "../../src/images/assets.js";
import { interpreterPackage } from "../../src/images/python/host_python.js";
import { PythonSources } from "../../src/images/python/sources.js";
import type { PackageRecord } from "../../src/images/apt/index_file.js";
import type { TarEntry } from "../../src/images/deb/tar.js";
import { scratchFolder } from "./support/tiny_deb.js";

const folder = scratchFolder();
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, data: string, mtime = 100): TarEntry => ({
  name,
  type: "file",
  mode: 0o644,
  uid: 0,
  gid: 0,
  mtime,
  link: "",
  major: 0,
  minor: 0,
  data: Buffer.from(data),
});
const link = (name: string, target: string): TarEntry => ({
  ...file(name, ""),
  type: "symlink",
  link: target,
});

describe("the Python modules of an image", () => {
  it("are those of the libraries, a link with the content and time of its target", () => {
    const sources = new PythonSources();
    sources.add([
      file("./usr/lib/python3.13/os.py", "os"),
      file("./usr/lib/python3.13/json/tool.py", "tool"),
      file("./usr/lib/python3/dist-packages/x.py", "x"),
      file("./usr/lib/python3.13/data.txt", "no"),
      file("./usr/share/other/y.py", "no"),
      link("./usr/lib/python3.13/sitecustomize.py", "/etc/python3.13/sitecustomize.py"),
      link("./usr/lib/python3.13/lost.py", "nowhere.py"),
    ]);
    sources.add([file("./etc/python3.13/sitecustomize.py", "site", 200)]);
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
