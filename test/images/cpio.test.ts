import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CpioEntry, CpioWriter, fileTypeBits } from "../../src/images/root/cpio.js";
import { readCpio } from "./support/cpio_reader.js";

async function archive(write: (cpio: CpioWriter) => Promise<void>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const cpio = new CpioWriter((piece) => {
    pieces.push(Buffer.from(piece));
    return Promise.resolve();
  });
  await write(cpio);
  await cpio.finish();
  const bytes = Buffer.concat(pieces);
  expect(cpio.bytes).toBe(bytes.length);
  return bytes;
}

const word = fc.integer({ min: 0, max: 0xffff_ffff });
const entries = fc.array(
  fc.record({
    type: fc.constantFrom(...(Object.keys(fileTypeBits) as (keyof typeof fileTypeBits)[])),
    name: fc.stringMatching(/^[a-z0-9é.-]{1,40}$/),
    mode: fc.integer({ min: 0, max: 0o7777 }),
    uid: word,
    gid: word,
    mtime: word,
    major: fc.integer({ min: 0, max: 0xfff }),
    minor: fc.integer({ min: 0, max: 0xffff }),
    data: fc.uint8Array({ maxLength: 70 }),
  }),
  { maxLength: 20 },
);

describe("the cpio writer", () => {
  it("writes what a reader of the format reads back, whatever the members are", async () => {
    await fc.assert(
      fc.asyncProperty(entries, async (list) => {
        const given = list.map((entry, index): CpioEntry & { data: Uint8Array } => {
          const { name, ...rest } = entry;
          const data = entry.type === "file" || entry.type === "symlink" ? entry.data : new Uint8Array();
          return { ...rest, path: `${index}${name}`, data };
        });
        const bytes = await archive(async (cpio) => {
          for (const entry of given) await cpio.add(entry);
        });
        expect(
          readCpio(bytes).map(({ path, mode, uid, gid, mtime, major, minor, data }) => ({
            path,
            mode,
            uid,
            gid,
            mtime,
            major,
            minor,
            data: [...data],
          })),
        ).toEqual(
          given.map(({ path, type, mode, uid, gid, mtime, major, minor, data }) => ({
            path,
            mode: fileTypeBits[type] | mode,
            uid,
            gid,
            mtime,
            major,
            minor,
            data: [...data],
          })),
        );
      }),
    );
  });

  it("gives two names of one file the same inode and the data to the last", async () => {
    const common = {
      type: "file",
      mode: 0o755,
      uid: 0,
      gid: 0,
      mtime: 5,
      data: Buffer.from("body"),
    } as const;
    const [first, second, other] = readCpio(
      await archive(async (cpio) => {
        await cpio.addLinked(["a", "b"], common);
        await cpio.add({ ...common, path: "c" });
      }),
    );
    expect(first?.inode).toBe(second?.inode);
    expect(other?.inode).not.toBe(first?.inode);
    expect([first?.links, second?.links, other?.links]).toEqual([2, 2, 1]);
    expect([first?.data.toString(), second?.data.toString()]).toEqual(["", "body"]);
  });

  it("gives the same bytes for the same calls", async () => {
    const write = async (cpio: CpioWriter): Promise<void> => {
      await cpio.add({ path: "etc", type: "directory", mode: 0o755, uid: 0, gid: 0, mtime: 1 });
      await cpio.addLinked(["etc/x", "etc/y"], {
        type: "file",
        mode: 0o4755,
        uid: 1,
        gid: 2,
        mtime: 3,
        data: Buffer.from("z"),
      });
    };
    expect((await archive(write)).equals(await archive(write))).toBe(true);
  });

  it("refuses a number that the format cannot hold", async () => {
    const entry = { path: "f", type: "file", mode: 0o644, uid: -1, gid: 0, mtime: 0 } as const;
    await expect(archive((cpio) => cpio.add(entry))).rejects.toThrow(RangeError);
  });

  it("is read by the cpio program where the host has one", async (context) => {
    if (spawnSync("cpio", ["--version"]).status !== 0) context.skip("the host has no cpio program");
    const bytes = await archive(async (cpio) => {
      await cpio.add({ path: "dev", type: "directory", mode: 0o755, uid: 0, gid: 0, mtime: 0 });
      await cpio.add({
        path: "dev/console",
        type: "char",
        mode: 0o600,
        uid: 0,
        gid: 0,
        mtime: 0,
        major: 5,
        minor: 1,
      });
      await cpio.add({
        path: "dev/stdin",
        type: "symlink",
        mode: 0o777,
        uid: 0,
        gid: 0,
        mtime: 0,
        data: Buffer.from("/proc/self/fd/0"),
      });
      await cpio.addLinked(["one", "two"], {
        type: "file",
        mode: 0o4755,
        uid: 0,
        gid: 42,
        mtime: 0,
        data: Buffer.from("12345"),
      });
    });
    const listed = spawnSync("cpio", ["-itvn", "--quiet"], { input: bytes, encoding: "utf8" });
    expect(listed.status).toBe(0);
    const lines = listed.stdout.trim().split("\n");
    expect(lines.map((line) => line.split(/\s+/)[0])).toEqual([
      "drwxr-xr-x",
      "crw-------",
      "lrwxrwxrwx",
      "-rwsr-xr-x",
      "-rwsr-xr-x",
    ]);
    expect(lines[1]).toMatch(/5, +1 .* dev\/console$/);
    expect(lines[2]).toMatch(/dev\/stdin -> \/proc\/self\/fd\/0$/);
    expect(lines[4]).toMatch(/^-rwsr-xr-x +2 0 +42 +5 /);
  });
});
