import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { FinishingConsole } from "../../src/images/boot/finishing_console.js";
import { buildInitrd } from "../../src/images/boot/initrd.js";
import { loadOrder, moduleDepends, moduleName, stripSignature } from "../../src/images/boot/modules.js";
import { stripSymbols } from "../../src/images/boot/strip_symbols.js";
import { trimErofs } from "../../src/images/erofs.js";
import { sha256 } from "../../src/images/files.js";
import { readCpio } from "./support/cpio_reader.js";
import { scratchFolder } from "./support/tiny_deb.js";

const folder = scratchFolder();
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const mark = Buffer.from("~Module signature appended~\n");
function signed(module: Buffer, signature: Buffer, claimed = signature.length): Buffer {
  const info = Buffer.alloc(12);
  info.writeUInt32BE(claimed, 8);
  return Buffer.concat([module, signature, info, mark]);
}
const module = (depends: string): Buffer =>
  Buffer.from(`\x7fELF...\0license=GPL\0depends=${depends}\0name=x\0`);

describe("a kernel module", () => {
  it("loses its signature and nothing else", () => {
    const plain = module("");
    expect(stripSignature(signed(plain, Buffer.alloc(300, 7))).equals(plain)).toBe(true);
    expect(stripSignature(plain).equals(plain)).toBe(true);
  });

  it("with a signature longer than itself is refused", () => {
    expect(() => stripSignature(signed(module(""), Buffer.alloc(4), 1_000_000))).toThrow(/longer/);
  });

  it("names what it depends on", () => {
    expect(moduleDepends(module("netfs,libcrc32c,virtio-ring"))).toEqual([
      "netfs",
      "libcrc32c",
      "virtio_ring",
    ]);
    expect(moduleDepends(module(""))).toEqual([]);
    expect(moduleName("./usr/lib/modules/6/kernel/fs/a-b.ko.xz")).toBe("a_b");
  });

  it("is loaded after what it depends on, else in the order asked for", () => {
    const modules = new Map([
      ["c", module("")],
      ["a", module("b,c")],
      ["b", module("c")],
      ["d", module("")],
    ]);
    expect(loadOrder(["d", "a"], modules)).toEqual(["d", "c", "b", "a"]);
    expect(() => loadOrder(["e"], modules)).toThrow(/no module e/);
    expect(() =>
      loadOrder(
        ["x"],
        new Map([
          ["x", module("y")],
          ["y", module("x")],
        ]),
      ),
    ).toThrow(/each other/);
  });
});

const compiler = ["riscv64-linux-gnu-gcc", "gcc"].find(
  (program) => spawnSync(program, ["--version"]).status === 0,
);

describe.skipIf(compiler === undefined)("the symbols of a kernel module", () => {
  const source = [
    "extern int outside(int);",
    "static int counter;",
    "static __attribute__((noinline)) int helper(int x) { counter += x; return outside(x) + counter; }",
    "int init_module(void) { for (int i = 0; i < 9; i++) if (helper(i) > 3) return i; return 0; }",
  ].join("\n");
  const build = (): { before: Buffer; after: Buffer; file: string } => {
    const [code, object, file] = [join(folder, "m.c"), join(folder, "m.o"), join(folder, "stripped.o")];
    writeFileSync(code, source);
    execFileSync(compiler ?? "", ["-c", "-O1", "-g0", "-o", object, code]);
    const before = readFileSync(object);
    const after = stripSymbols(before);
    writeFileSync(file, after);
    return { before, after, file };
  };
  const symbols = (file: string): string => execFileSync("readelf", ["-sW", file], { encoding: "utf8" });

  it("keep what relocations and others need, and named functions", () => {
    const { before, after, file } = build();
    const listed = symbols(file);
    for (const name of ["init_module", "outside", "helper"])
      expect(listed).toMatch(new RegExp(`\\b${name}$`, "m"));
    expect(after.length).toBeLessThan(before.length);
    expect(listed).not.toContain("FILE");
  });

  it("leave relocations that name the same symbols at the same places", () => {
    const { file } = build();
    const relocations = (path: string): string[] =>
      execFileSync("readelf", ["-rW", path], { encoding: "utf8" })
        .split("\n")
        .filter((line) => /^[0-9a-f]{16}/.test(line))
        .map((line) =>
          line
            .split(/\s+/)
            .filter((_, index) => index !== 1)
            .join(" "),
        );
    expect(relocations(file)).toEqual(relocations(join(folder, "m.o")));
    expect(relocations(file).length).toBeGreaterThan(2);
  });

  it("are left alone in what is no module, and refused in one that is cut off", () => {
    const { after } = build();
    expect(stripSymbols(Buffer.from("text"))).toEqual(Buffer.from("text"));
    expect(stripSymbols(after).equals(after)).toBe(true);
    expect(() => stripSymbols(after.subarray(0, after.length - 100))).toThrow(/outside the file/);
  });
});

describe("the initial root", () => {
  it("holds the agent as init, the console and the modules in order, and is the same each time", async () => {
    const build = (): Promise<Buffer> =>
      buildInitrd(
        Buffer.from("agent"),
        [
          { name: "first", data: Buffer.from("1") },
          { name: "second", data: Buffer.from("2") },
        ],
        9,
      );
    const bytes = await build();
    expect((await build()).equals(bytes)).toBe(true);
    const byPath = new Map(readCpio(bytes).map((member) => [member.path, member]));
    expect(byPath.get("init")).toMatchObject({ mode: 0o100755, uid: 0, mtime: 9 });
    expect(byPath.get("init")?.data.toString()).toBe("agent");
    expect(byPath.get("dev/console")).toMatchObject({ mode: 0o020600, major: 5, minor: 1 });
    expect(byPath.get("modules/order")?.data.toString()).toBe("first.ko\nsecond.ko\n");
    expect(byPath.get("modules/second.ko")?.data.toString()).toBe("2");
  });
});

describe("the console of a finishing boot", () => {
  it("is understood in pieces of any length", () => {
    const steps: [string, number][] = [];
    const output = new FinishingConsole((text, done) => steps.push([text, done]));
    const sum = sha256("x");
    const text = `[ 0.1] noise\r\n@finish stage configure @12.50\r\nSetting up libc6:riscv64 (2.41) ...\nSetting up bash (5) ...\n@finish done ${sum} @99.00\n`;
    for (const letter of text) output.write(letter);
    expect(steps).toEqual([
      ["configure", 0],
      ["libc6:riscv64", 1],
      ["bash", 2],
    ]);
    expect(output.headSha256).toBe(sum);
    expect(output.failure).toBeUndefined();
    expect([...output.stages]).toEqual([
      ["configure", 12.5],
      ["done", 99],
    ]);
  });

  it("tells of a disk that refused a write, whatever the guest says", () => {
    const output = new FinishingConsole(() => undefined);
    output.write("Setting up I/O error (5) ...\n");
    expect(output.diskFault).toBe(false);
    output.write(
      `[  9.8] I/O error, dev vda, sector 8 op 0x1:(WRITE) flags 0x800\r\n@finish done ${sha256("x")}\n`,
    );
    expect(output.diskFault).toBe(true);
  });

  it("keeps the reason of a failure and the last lines, and no more", () => {
    const output = new FinishingConsole(() => undefined);
    for (let i = 0; i < 1000; i++) output.write(`line ${i}\n`);
    output.write("x".repeat(1_000_000));
    output.write("\n@finish fail configure\n@finish done 1234\n");
    expect(output.failure).toBe("configure");
    expect(output.headSha256).toBeUndefined();
    expect(output.tail().length).toBeLessThan(10_000);
    expect(output.tail()).not.toContain("line 1\n");
  });
});

describe("the disk that a finishing boot leaves", () => {
  const disk = (change: (head: Buffer) => void): { path: string; sum: string } => {
    const bytes = Buffer.alloc(16 * 4096);
    bytes.writeUInt32LE(0xe0f5e1e2, 1024);
    bytes.writeUInt8(12, 1036);
    bytes.writeUInt32LE(5, 1060);
    change(bytes);
    const path = join(folder, `disk-${Math.random()}`);
    writeFileSync(path, bytes);
    return { path, sum: sha256(bytes.subarray(0, 4096)) };
  };

  it("is cut to the length that its superblock states", async () => {
    const { path, sum } = disk(() => undefined);
    expect(await trimErofs(path, sum)).toBe(5 * 4096);
    expect(statSync(path).size).toBe(5 * 4096);
  });

  it("is refused without a superblock, with other bytes than the guest wrote, or with a length beyond the disk", async () => {
    const bad = [
      disk((head) => head.writeUInt32LE(0, 1024)),
      disk((head) => head.writeUInt32LE(17, 1060)),
      disk((head) => head.writeUInt32LE(0, 1060)),
      disk((head) => head.writeUInt8(9, 1036)),
    ];
    for (const { path, sum } of bad)
      await expect(trimErofs(path, sum)).rejects.toMatchObject({ code: "image_build_failed" });
    const { path } = disk(() => undefined);
    await expect(trimErofs(path, sha256("other"))).rejects.toThrow(/what the guest wrote/);
  });
});
