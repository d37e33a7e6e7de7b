import { createHash } from "node:crypto";
import { deflateRawSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { crc32 } from "../../../src/verifiers/parse/crc32.js";
import { faults, fixture, holds, survivesMutation } from "./documents.js";
import { check } from "./support.js";

afterAll(closePool);

const PATH = "/home/agent/out.bin";
const sha = (text: string) => createHash("sha256").update(text).digest("hex");
const LONG = `long-${"x".repeat(120)}.txt`;
const archive = (bytes: Uint8Array, query: object, assert: object) =>
  holds("archive", { path: PATH, ...query }, assert, { [PATH]: bytes });
const refused = (bytes: Uint8Array, why: string) =>
  faults("archive", { path: PATH, kind: "manifest" }, { type: "json", exists: true }, { [PATH]: bytes }, why);

interface Part {
  name: string | Uint8Array;
  data?: Uint8Array;
  /** What the headers say, where that is a lie. */
  size?: number;
  sum?: number;
  method?: number;
  flags?: number;
  packed?: Uint8Array;
  /** Name in the local header. */
  local?: string;
  /** Place of the local header, where it is not its own. */
  offset?: number;
}

/** A zip archive by hand, so that it can lie. */
function zip(parts: readonly Part[], { comment = "", ahead = "" } = {}): Uint8Array {
  const locals: Buffer[] = [Buffer.from(ahead)];
  const centrals: Buffer[] = [];
  let at = ahead.length;
  for (const part of parts) {
    const data = part.data ?? Buffer.from("x");
    const method = part.method ?? 8;
    const packed = Buffer.from(part.packed ?? (method === 8 ? deflateRawSync(data) : data));
    const name = Buffer.from(part.name as Uint8Array);
    const inner = part.local === undefined ? name : Buffer.from(part.local);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(part.flags ?? 0x800, 2);
    head.writeUInt16LE(method, 4);
    head.writeUInt32LE(part.sum ?? crc32(data), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(part.size ?? data.length, 18);
    head.writeUInt16LE(inner.length, 22);
    const own = Buffer.concat([Buffer.from("PK\x03\x04"), head, inner, packed]);
    head.writeUInt16LE(name.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(part.offset ?? at, 10);
    centrals.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), head, tail, name]));
    locals.push(own);
    at += own.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  end.writeUInt16LE(comment.length, 16);
  return Buffer.concat([...locals, directory, Buffer.from("PK\x05\x06"), end, Buffer.from(comment)]);
}

interface Block {
  name: string | Uint8Array;
  type?: string;
  data?: Uint8Array;
  size?: number;
  target?: string;
}

/** A tar archive by hand. */
function tar(blocks: readonly Block[], end: Uint8Array = new Uint8Array(1_024)): Uint8Array {
  const parts = blocks.flatMap((block) => {
    const data = block.data ?? new Uint8Array();
    const header = Buffer.alloc(512);
    header.set(Buffer.from(block.name as Uint8Array), 0);
    header.write((block.size ?? data.length).toString(8).padStart(11, "0"), 124);
    header.write(block.type ?? "0", 156);
    header.write(block.target ?? "", 157);
    header.write("ustar\x0000", 257);
    header.write("        ", 148);
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, "0")}\0 `,
      148,
    );
    return [header, data, new Uint8Array((512 - (data.length % 512)) % 512)];
  });
  return Buffer.concat([...parts, end]);
}

const pax = (...pairs: [string, string][]): Uint8Array =>
  Buffer.concat(
    pairs.map(([key, value]) => {
      const rest = Buffer.byteLength(` ${key}=${value}\n`);
      const length = [rest + 1, rest + 2, rest + 3].find((one) => String(one).length + rest === one);
      return Buffer.from(`${length} ${key}=${value}\n`);
    }),
  );

describe.each(["tree.zip", "tree.tgz", "tree-pax.tar.gz", "tree.tar.xz", "tree.tar.zst"])("%s", (name) => {
  const bytes = fixture(name);
  it("lists its entries by name, whatever it is called", () =>
    archive(
      bytes,
      { kind: "entries" },
      {
        type: "list",
        equals: ["a.txt", "link", LONG, "sub/b.json", "sub/big.txt", "sub/größe.txt"],
      },
    ));
  it("lists its folders where the author asks for them", () =>
    archive(
      bytes,
      { kind: "entries", directories: true },
      { type: "list", contains: ["sub/", "sub/empty/"], length: { equals: 8 } },
    ));
  it("has a manifest of hashes, sizes and targets", () =>
    archive(
      bytes,
      { kind: "manifest" },
      {
        type: "json",
        equals: {
          "a.txt": { kind: "file", size: 8, sha256: sha("one\ntwo\n") },
          link: { kind: "symlink", target: "a.txt" },
          [LONG]: { kind: "file", size: 5, sha256: sha("long\n") },
          "sub/b.json": { kind: "file", size: 9, sha256: sha('{"n": 1}\n') },
          "sub/big.txt": { kind: "file", size: 10_000, sha256: sha("0123456789".repeat(1_000)) },
          "sub/größe.txt": { kind: "file", size: 3, sha256: sha("ü\n") },
        },
      },
    ));
  it("gives one entry as text, lines, JSON or bytes", async () => {
    await archive(bytes, { kind: "text", entry: "./a.txt" }, { type: "text", equals: "one\ntwo\n" });
    await archive(bytes, { kind: "lines", entry: "a.txt" }, { type: "list", equals: ["one", "two"] });
    await archive(bytes, { kind: "json", entry: "sub/b.json" }, { type: "json", path: "/n", equals: 1 });
    await archive(bytes, { kind: "bytes", entry: "sub/größe.txt" }, { type: "bytes", sha256: sha("ü\n") });
  });
  it("lacks an entry that is not there, which fails", async () => {
    const { status, evidence } = await check(
      "archive",
      { kind: "text", path: PATH, entry: "c.txt" },
      { type: "text", equals: "x" },
      { files: { [PATH]: bytes } },
    );
    expect([status, evidence]).toEqual(["failed", `${PATH} holds no c.txt`]);
  });
  it("does not follow its links", () =>
    faults(
      "archive",
      { kind: "text", path: PATH, entry: "link" },
      { type: "text", equals: "x" },
      { [PATH]: bytes },
      "link is a symlink, not a file",
    ));
});

describe("an archive of nothing", () => {
  it("is a zip", () => archive(zip([]), { kind: "entries" }, { type: "list", equals: [] }));
  it("is a tar", () => archive(new Uint8Array(10_240), { kind: "entries" }, { type: "list", equals: [] }));
  it("is not an empty file", () => refused(new Uint8Array(), "neither zip nor tar"));
});

describe("a zip archive is refused:", () => {
  const bomb = { name: "bomb", data: Buffer.alloc(100 * 1024 * 1024) };
  it.each([
    ["a bomb of one entry", zip([bomb]), "larger than 67108864 bytes"],
    [
      "a bomb of many entries",
      zip(Array.from({ length: 5 }, (_, n) => ({ name: `z${n}`, data: Buffer.alloc(60 * 1024 * 1024) }))),
      "expands to more than 268435456 bytes",
    ],
    [
      "an entry larger than it says",
      zip([{ name: "a", data: Buffer.alloc(9_000), size: 10 }]),
      "holds more than the 10 bytes that it says",
    ],
    [
      "an entry smaller than it says",
      zip([{ name: "a", data: Buffer.alloc(9), size: 90 }]),
      "holds 9 bytes and says 90",
    ],
    [
      "an entry that says what it cannot hold",
      zip([{ name: "a", size: 50_000_000 }]),
      "which its data cannot",
    ],
    ["a wrong sum", zip([{ name: "a", sum: 1 }]), "its sum does not fit"],
    [
      "a stored entry of another length",
      zip([{ name: "a", method: 0, size: 2 }]),
      "holds 1 bytes and says 2",
    ],
    ["an unknown method", zip([{ name: "a", method: 99 }]), "packed by method 99"],
    ["an encrypted entry", zip([{ name: "a", flags: 0x801 }]), "a is encrypted"],
    ["a name twice", zip([{ name: "a" }, { name: "./a" }]), 'holds "a" twice'],
    ["a name that leads out", zip([{ name: "../a" }]), "may lead out of it"],
    ["an absolute name", zip([{ name: "/a" }]), "may lead out of it"],
    ["a name with NUL", zip([{ name: "a\0b" }]), "may lead out of it"],
    ["a name with a backslash", zip([{ name: "a\\b" }]), "has a backslash"],
    ["a name that is not UTF-8", zip([{ name: Uint8Array.of(0x61, 0xff) }]), "not valid UTF-8"],
    ["two names for one entry", zip([{ name: "a", local: "b" }]), 'says two different things of "a"'],
    [
      "entries that overlap",
      zip([
        { name: "a", data: Buffer.alloc(100), method: 0 },
        { name: "a2", offset: 0 },
      ]),
      "overlap",
    ],
    [
      "data ahead of it",
      zip([{ name: "a" }], { ahead: "PK\x03\x04 a program" }),
      "data ahead of its first entry",
    ],
    ["no end", zip([{ name: "a" }]).subarray(0, -4), "has no end record"],
    ["a broken stream", zip([{ name: "a", packed: Uint8Array.of(7, 7, 7) }]), "is not a deflate stream"],
    [
      "more entries than anybody lists",
      zip(Array.from({ length: 20_001 }, (_, n) => ({ name: `f${n}`, method: 0 }))),
      "more than 20000 entries",
    ],
  ] as [string, Uint8Array, string][])("%s", (_, bytes, why) => refused(bytes, why));

  it("but a bomb can still be listed", () =>
    archive(zip([bomb]), { kind: "entries" }, { type: "list", equals: ["bomb"] }));
  it("but names of code page 437 are read, and a comment does not matter", () =>
    archive(
      zip([{ name: Uint8Array.of(0x81, 0x2e, 0x74), flags: 0 }], { comment: "PK\x05\x06 not the end" }),
      { kind: "entries" },
      { type: "list", equals: ["ü.t"] },
    ));
});

describe("a tar archive is refused:", () => {
  const data = Buffer.from("hello");
  it.each([
    ["a sparse entry of GNU's", tar([{ name: "a", type: "S", data }]), "is sparse, which is not read"],
    [
      "a sparse entry of pax",
      tar([
        { name: "p", type: "x", data: pax(["GNU.sparse.major", "1"]) },
        { name: "a", data },
      ]),
      "sparse entry, which is not read",
    ],
    ["an unknown type", tar([{ name: "a", type: "Q", data }]), 'unknown type "Q"'],
    ["an entry beyond its end", tar([{ name: "a", size: 5_000_000 }]), "is cut short"],
    ["a size of ten gigabytes", tar([{ name: "a", size: 10 * 2 ** 30 }]), "is cut short"],
    [
      "a damaged header",
      Buffer.concat([tar([{ name: "a", data }], new Uint8Array()), Buffer.alloc(512, 1)]),
      "its sum does not fit",
    ],
    [
      "data after its end",
      tar([{ name: "a", data }], Buffer.concat([new Uint8Array(1_024), data])),
      "goes on after its end",
    ],
    [
      "a link that holds data",
      tar([{ name: "a", type: "2", target: "b", data }]),
      "is a symlink that holds data",
    ],
    [
      "a name twice",
      tar([
        { name: "a", data },
        { name: "a", data },
      ]),
      'holds "a" twice',
    ],
    ["a name that leads out", tar([{ name: "a/../../b", data }]), "may lead out of it"],
    ["a name that is not UTF-8", tar([{ name: Uint8Array.of(0x66, 0xfe), data }]), "not valid UTF-8"],
    [
      "pax records that are malformed",
      tar([{ name: "p", type: "x", data: Buffer.from("99 path=x\n") }, { name: "a" }]),
      "pax record that is malformed",
    ],
    [
      "a path for all entries at once",
      tar([{ name: "p", type: "g", data: pax(["path", "x"]) }, { name: "a" }]),
      "of all its entries at once",
    ],
    [
      "a pax size that is none",
      tar([{ name: "p", type: "x", data: pax(["size", "1e9"]) }, { name: "a" }]),
      "whose size is no number",
    ],
    ["gzip of no tar", gzipSync("hello"), "is gzip, but of no tar archive"],
    ["gzip that is cut short", gzipSync(tar([{ name: "a", data }])).subarray(0, -30), "unexpected EOF"],
    [
      "gzip with a wrong sum",
      Buffer.concat([gzipSync(tar([{ name: "a", data }])).subarray(0, -8), Buffer.alloc(8)]),
      "its sum does not fit",
    ],
    ["a gzip bomb", gzipSync(Buffer.alloc(300 * 1024 * 1024)), "expands to more than 268435456 bytes"],
    ["bzip2", Buffer.from("BZh91AY"), "is bzip2, which is not read"],
    ["something else", Buffer.from("just text"), "neither zip nor tar"],
  ] as [string, Uint8Array, string][])("%s", (_, bytes, why) => refused(bytes, why));

  it("but devices, pipes and hard links are listed as what they are", () =>
    archive(
      tar([
        { name: "pipe", type: "6" },
        { name: "null", type: "3" },
        { name: "a", data },
        { name: "b", type: "1", target: "a" },
      ]),
      { kind: "manifest" },
      {
        type: "json",
        equals: {
          a: { kind: "file", size: 5, sha256: sha("hello") },
          b: { kind: "hardlink", target: "a" },
          null: { kind: "char" },
          pipe: { kind: "fifo" },
        },
      },
    ));
  it("but pax gives names of any length and a size, and gzip may have several members", () =>
    archive(
      Buffer.concat([
        gzipSync(
          tar(
            [
              { name: "p", type: "x", data: pax(["path", "ü".repeat(300)], ["size", "5"]) },
              { name: "short", data, size: 5 },
            ],
            new Uint8Array(),
          ),
        ),
        gzipSync(new Uint8Array(1_024)),
      ]),
      { kind: "manifest" },
      { type: "json", equals: { ["ü".repeat(300)]: { kind: "file", size: 5, sha256: sha("hello") } } },
    ));
  it("but a systemd unit may have a backslash in its name", () =>
    archive(
      tar([{ name: "dev-by\\x2dlabel.swap", data }]),
      { kind: "entries" },
      { type: "list", equals: ["dev-by\\x2dlabel.swap"] },
    ));
});

describe("a trap where an archive should be", () => {
  it.each([
    ["a pipe", { type: "fifo" as const }, "is a fifo, not a file"],
    ["a link to /dev/zero", { type: "symlink" as const, target: "/dev/zero" }, "is a char, not a file"],
  ])("%s is never opened", async (_, node, why) => {
    const files = { [PATH]: node, "/dev/zero": { type: "char" as const } };
    await faults("archive", { kind: "entries", path: PATH }, { type: "list", equals: [] }, files, why);
  });
});

describe("whatever became of an archive's bytes, it has a value or a fault:", () => {
  const queries = [
    { kind: "entries", path: PATH, directories: true },
    { kind: "manifest", path: PATH, directories: true },
    { kind: "text", path: PATH, entry: "a.txt" },
  ].map((query) => ({ channel: "archive", query }) as never);
  it.each([
    ["zip", fixture("tree.zip")],
    ["gzipped tar", fixture("tree.tgz")],
    ["zip by hand", zip([{ name: "a.txt", method: 0 }, { name: "b/c" }])],
    [
      "tar",
      tar([
        { name: "a.txt", data: Buffer.from("hello") },
        { name: "p", type: "x", data: pax(["path", "longer"]) },
        { name: "l", type: "2", target: "a.txt" },
      ]),
    ],
  ])("%s", (_, bytes) => survivesMutation(bytes, queries, 300));
});
