import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { readControl, readData } from "../../src/images/deb/package.js";
import { maxMemberBytes, readTar, type TarEntry } from "../../src/images/deb/tar.js";
import { CpioWriter } from "../../src/images/root/cpio.js";
import { DpkgDatabase } from "../../src/images/root/dpkg_database.js";
import { pickLocales } from "../../src/images/root/locales.js";
import { dpkgConfiguration, pathFilter } from "../../src/images/root/path_rules.js";
import { canonicalPath, TreeWriter } from "../../src/images/root/tree.js";
import { pathRules } from "../../src/images/recipe.js";
import { type CpioMember, readCpio } from "./support/cpio_reader.js";
import { fileEntry, linkEntry } from "./support/tar_entry.js";
import { makeDeb, scratchFolder, type TinyDeb } from "./support/tiny_deb.js";

const folder = scratchFolder();
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function members(deb: string): Promise<TarEntry[]> {
  const list: TarEntry[] = [];
  for await (const entry of readData(deb)) list.push(entry);
  return list;
}

async function tree(debs: [string, TarEntry[]][], prefix = ""): Promise<CpioMember[]> {
  const pieces: Buffer[] = [];
  const cpio = new CpioWriter((piece) => {
    pieces.push(Buffer.from(piece));
    return Promise.resolve();
  });
  const writer = new TreeWriter(cpio, { prefix, excluded: pathFilter(pathRules), mtime: 7 });
  for (const [name, entries] of debs) await writer.addPackage(name, entries);
  await cpio.finish();
  return readCpio(Buffer.concat(pieces));
}

const sample: TinyDeb = {
  name: "sample",
  fields: { "Multi-Arch": "same" },
  control: {
    conffiles: "/etc/sample.conf\n",
    triggers:
      "# a comment\ninterest-noawait /usr/lib/sample\ninterest-await refresh-sample\nactivate ldconfig\n",
    postinst: "#!/bin/sh\nexit 0\n",
  },
  files: {
    "etc/sample.conf": { data: "a = 1\n" },
    "usr/bin/sample": { data: "#!/bin/sh\n", mode: 0o4755 },
    [`usr/share/${"long/".repeat(40)}name`]: { data: "deep" },
    "usr/share/man/man1/sample.1": { data: "manual" },
    "usr/share/doc/sample/copyright": { data: "licence" },
    "usr/share/doc/sample/changelog": { data: "news" },
  },
  symlinks: { "usr/bin/alias": "sample" },
  hardlinks: { "usr/bin/twin": "usr/bin/sample" },
};

describe("a Debian package", () => {
  const deb = makeDeb(folder, sample);

  it("is read member by member with names, modes, links and content", async () => {
    const byName = new Map((await members(deb)).map((entry) => [entry.name, entry]));
    expect(byName.get("./")?.type).toBe("directory");
    expect(byName.get("./etc/sample.conf")?.data.toString()).toBe("a = 1\n");
    expect(byName.get("./usr/bin/alias")).toMatchObject({ type: "symlink", link: "sample" });
    expect(byName.get(`./usr/share/${"long/".repeat(40)}name`)?.data.toString()).toBe("deep");
    const pair = [byName.get("./usr/bin/sample"), byName.get("./usr/bin/twin")];
    expect(pair.map((entry) => entry?.type).sort()).toEqual(["file", "hardlink"]);
    expect(pair.find((entry) => entry?.type === "file")).toMatchObject({ mode: 0o4755, uid: 0, gid: 0 });
  });

  it("gives its control fields and scripts", async () => {
    const control = await readControl(deb);
    expect(control.fields.get("Package")).toBe("sample");
    expect(control.fields.get("Description")).toBe("a package\n made for a test");
    expect(control.files.get("postinst")?.toString()).toContain("exit 0");
  });

  it("becomes a dpkg database in which it is unpacked and its configuration file is known", async () => {
    const database = new DpkgDatabase();
    database.add(await readControl(deb), await members(deb));
    const files = database.finish("riscv64");
    const text = (path: string): string => String(files.get(path)?.data);
    expect(text("status")).toContain("Package: sample\nStatus: install ok unpacked\n");
    const sum = createHash("md5").update("a = 1\n").digest("hex");
    expect(text("status")).toContain(`Conffiles:\n /etc/sample.conf ${sum}\n`);
    const list = text("info/sample:riscv64.list").split("\n");
    expect(list[0]).toBe("/.");
    expect(list).toContain("/usr/share/man/man1/sample.1");
    expect(list).toContain("/usr/bin");
    expect(text("info/sample:riscv64.md5sums")).toContain(`${sum}  etc/sample.conf\n`);
    expect(files.get("info/sample:riscv64.postinst")?.mode).toBe(0o755);
    expect(text("triggers/File")).toBe("/usr/lib/sample sample:riscv64/noawait\n");
    expect(text("triggers/refresh-sample")).toBe("sample:riscv64\n");
    expect([...files.keys()]).not.toContain("triggers/ldconfig");
  });

  it("leaves manuals out, keeps copyright files, and tells the image's dpkg so", async () => {
    const paths = (await tree([["sample", await members(deb)]], "target")).map((member) => member.path);
    expect(paths).toContain("target/usr/share/doc/sample/copyright");
    expect(paths).not.toContain("target/usr/share/doc/sample/changelog");
    expect(paths.filter((path) => path.includes("/man/"))).toEqual([]);
    expect(dpkgConfiguration(pathRules)).toContain(
      "path-exclude=/usr/share/doc/*\npath-include=/usr/share/doc/*/copyright\n",
    );
  });

  it("keeps setuid bits and joins hard links", async () => {
    const list = await tree([["sample", await members(deb)]]);
    const pair = ["usr/bin/sample", "usr/bin/twin"].map((path) =>
      list.find((member) => member.path === path),
    );
    expect(pair.map((member) => (member?.mode ?? 0) & 0o7777)).toEqual([0o4755, 0o4755]);
    expect(pair[0]?.inode).toBe(pair[1]?.inode);
    expect(pair.map((member) => member?.links)).toEqual([2, 2]);
  });

  it("puts every folder before what is in it, and only once", async () => {
    const other = makeDeb(folder, { name: "other", files: { "usr/bin/other": { data: "o" } } });
    const paths = (
      await tree([
        ["sample", await members(deb)],
        ["other", await members(other)],
      ])
    ).map((member) => member.path);
    expect(new Set(paths).size).toBe(paths.length);
    for (const path of paths) {
      const slash = path.lastIndexOf("/");
      if (slash > 0) expect(paths.indexOf(path.slice(0, slash))).toBeGreaterThanOrEqual(0);
      if (slash > 0) expect(paths.indexOf(path.slice(0, slash))).toBeLessThan(paths.indexOf(path));
    }
  });

  it("makes the same bytes when it is built into a tree again", async () => {
    const [once, twice] = [
      await tree([["sample", await members(deb)]]),
      await tree([["sample", await members(deb)]]),
    ];
    expect(once).toEqual(twice);
  });
});

describe("a tree of packages", () => {
  it("lets a package use the old names of merged folders", () => {
    expect(canonicalPath("./lib/riscv64-linux-gnu/x.so")).toBe("usr/lib/riscv64-linux-gnu/x.so");
    expect(canonicalPath("./bin")).toBe("bin");
    expect(canonicalPath("./")).toBe("");
    expect(canonicalPath("./../../etc/passwd")).toBe("etc/passwd");
  });

  it("refuses a file that two packages hold", async () => {
    const make = (name: string): string =>
      makeDeb(folder, { name, files: { "usr/share/both": { data: name } } });
    const [one, two] = [await members(make("one")), await members(make("two"))];
    await expect(
      tree([
        ["one", one],
        ["two", two],
      ]),
    ).rejects.toMatchObject({ code: "image_build_failed" });
  });

  it("takes a locale by following its links", () => {
    const base = "./usr/lib/locale";
    const list = [
      { ...fileEntry(`${base}/xx/`, ""), type: "directory" as const },
      linkEntry(`${base}/xx/LC_TIME`, "../yy/LC_TIME"),
      linkEntry(`${base}/yy/LC_TIME`, "../zz/LC_TIME"),
      fileEntry(`${base}/zz/LC_TIME`, "noon"),
      fileEntry(`${base}/xx@other/LC_TIME`, "no"),
    ];
    const picked = pickLocales(list, ["xx"]);
    expect(picked.map((entry) => [entry.name, entry.type, entry.data.toString()])).toEqual([
      [`${base}/xx/`, "directory", ""],
      [`${base}/xx/LC_TIME`, "file", "noon"],
    ]);
    expect(() => pickLocales(list, ["qq"])).toThrow(/qq/);
    expect(() => pickLocales([linkEntry(`${base}/l`, "../locale/l")], ["l"])).toThrow(/nowhere/);
  });
});

describe("the tar reader", () => {
  async function* once(data: Buffer): AsyncGenerator<Buffer> {
    yield await Promise.resolve(data);
  }
  const read = async (data: Buffer): Promise<TarEntry[]> => {
    const list: TarEntry[] = [];
    for await (const entry of readTar(once(data))) list.push(entry);
    return list;
  };
  const header = (change: (block: Buffer) => void): Buffer => {
    const block = Buffer.alloc(512);
    block.write("name", 0);
    block.write("0000644\0", 100);
    block.write("00000000000\0", 124);
    block.write("0", 156);
    block.write("ustar\0", 257);
    change(block);
    block.fill(" ", 148, 156);
    block.write(
      `${block
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, "0")}\0 `,
      148,
    );
    return block;
  };

  it("reads a plain header", async () => {
    expect(await read(Buffer.concat([header(() => undefined), Buffer.alloc(1024)]))).toMatchObject([
      { name: "name", mode: 0o644, type: "file" },
    ]);
  });

  it("refuses archives that are cut off, altered, oversized or of unknown kind", async () => {
    const sized = header((block) => {
      block.write("00000001000\0", 124);
    });
    const altered = header(() => undefined);
    altered[0] = 0x7a;
    const huge = header((block) => {
      block[124] = 0x80;
      block.writeBigUInt64BE(BigInt(maxMemberBytes + 1), 128);
    });
    const kind = header((block) => {
      block.write("S", 156);
    });
    for (const bad of [
      sized,
      Buffer.concat([sized, Buffer.alloc(100)]),
      altered,
      huge,
      kind,
      Buffer.alloc(100, 1),
    ]) {
      await expect(read(bad)).rejects.toMatchObject({ code: "image_build_failed" });
    }
  });
});
