/** What people expect of a shell, asked of the image itself. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Golden, Sandbox } from "../../src/sandbox/sandbox.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();

const programs = [
  ...[
    "bash",
    "ls",
    "find",
    "xargs",
    "grep",
    "sed",
    "gawk",
    "awk",
    "diff",
    "cmp",
    "patch",
    "mount",
    "ps",
    "killall",
    "ip",
  ],
  ...[
    "file",
    "less",
    "tree",
    "sqlite3",
    "jq",
    "python3",
    "perl",
    "openssl",
    "curl",
    "zip",
    "unzip",
    "tar",
    "gzip",
    "xz",
  ],
  ...["nano", "vi", "git", "make", "adduser", "dpkg", "su", "hostname"],
];
/** No display, and another operating system's. */
const notHere = ["idlelib", "msvcrt", "nt", "tkinter", "turtle", "turtledemo", "winreg", "winsound"];

const importAll = `import importlib, sys
missing = []
for name in sorted(sys.stdlib_module_names) + ["dbm.gnu", "dbm.ndbm", "dbm.sqlite3", "curses.panel", "xml.etree.ElementTree"]:
    if name.startswith("_") or name in ("antigravity", "this"):
        continue
    try:
        importlib.import_module(name)
    except ImportError:
        missing.append(name)
print(" ".join(missing))`;

describe.skipIf(unavailable !== null)("the shell image", () => {
  let golden: Golden;
  let sandbox: Sandbox;
  const run = async (argv: string[], user = "agent"): Promise<string> => {
    const { stdout, stderr, exitCode } = await sandbox.exec({ argv, user });
    expect(Buffer.from(stderr).toString()).toBe("");
    expect(exitCode).toBe(0);
    return Buffer.from(stdout).toString().trim();
  };

  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
    sandbox = await golden.fork();
  });
  afterAll(async () => {
    await sandbox.close();
    golden.close();
  });

  it("has the programs that a newcomer reaches for", async () => {
    const found = await run(
      ["sh", "-c", programs.map((name) => `command -v ${name} >/dev/null || echo ${name};`).join(" ")],
      "root",
    );
    expect(found).toBe("");
  });
  it("has Python's standard library, but for what needs a display", async () => {
    expect((await run(["python3", "-W", "ignore", "-c", importAll])).split(" ")).toEqual(notHere);
  });
  it("makes virtual environments, and holds the pip that goes into them", async () => {
    await run(["python3", "-m", "venv", "--without-pip", "/tmp/v"]);
    const version = await run(["/tmp/v/bin/python", "-c", "import ensurepip; print(ensurepip.version())"]);
    expect(version).toMatch(/^[0-9]+[.]/);
  });
  it("knows its packages: all installed, none half", async () => {
    const states = await run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}\n"]);
    expect(new Set(states.split("\n").map((state) => state.trim()))).toEqual(new Set(["ii"]));
    expect(await run(["dpkg", "--audit"])).toBe("");
  });
  it("resolves its own name, which every fork has anew", async () => {
    const name = await run(["hostname"]);
    expect(await run(["hostname", "-f"])).toBe(name);
    const lookup = "import socket; print(socket.gethostbyname(socket.gethostname()))";
    expect(await run(["python3", "-c", lookup])).toMatch(/^(10|127)\./);
  });
  it("has users root and agent, both locales and every time zone", async () => {
    expect(await run(["id", "-u", "agent"])).toBe("1000");
    expect((await run(["locale", "-a"])).split("\n")).toEqual(
      expect.arrayContaining(["C.utf8", "en_US.utf8"]),
    );
    expect(await run(["sh", "-c", "TZ=Asia/Tokyo date +%z"])).toBe("+0900");
  });
});
