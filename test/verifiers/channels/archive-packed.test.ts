/** Tar archives packed by xz and zstd: damage, lies and bombs. */
import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { answerOrFault, faults, fixture, survivesMutation } from "./documents.js";

afterAll(closePool);

const PATH = "/home/agent/out.bin";
const refused = (bytes: Uint8Array, why: string) =>
  faults("archive", { path: PATH, kind: "manifest" }, { type: "json", exists: true }, { [PATH]: bytes }, why);

const xz = fixture("tree.tar.xz");
const zst = fixture("tree.tar.zst");
const zeros = fixture("zeros.xz");

const changed = (bytes: Uint8Array, at: number): Uint8Array =>
  bytes.map((byte, index) => (index === (at < 0 ? bytes.length + at : at) ? byte ^ 1 : byte));

interface Frame {
  /** What the frame says that it holds. */
  size?: number;
  /** Type, size and data of its blocks. */
  blocks: [0 | 1 | 2 | 3, number, Uint8Array][];
}

/** A zstd file by hand, so that it can lie. */
function zstd(frames: readonly Frame[]): Uint8Array {
  const parts = frames.flatMap(({ size, blocks }) => {
    const head = Buffer.alloc(size === undefined ? 6 : 14);
    head.writeUInt32LE(0xfd2fb528, 0);
    head.writeUInt8(size === undefined ? 0 : 0xc0, 4);
    // A window of 8 MiB.
    head.writeUInt8(0x68, 5);
    if (size !== undefined) head.writeBigUInt64LE(BigInt(size), 6);
    return [
      head,
      ...blocks.flatMap(([type, length, data], index) => {
        const block = Buffer.alloc(3);
        block.writeUIntLE((length << 3) | (type << 1) | Number(index === blocks.length - 1), 0, 3);
        return [block, data];
      }),
    ];
  });
  return Buffer.concat(parts);
}

const BLOCK = 128 * 1024;
const zero = Uint8Array.of(0);
const zeroes = (count: number): Frame["blocks"] => Array.from({ length: count }, () => [1, BLOCK, zero]);

describe("an archive packed by xz or zstd is ungraded with its reason where it is", () => {
  it.each([
    ["xz that is cut short", xz.subarray(0, -10), "is cut short, or goes on after its end"],
    ["xz with a wrong sum", changed(xz, 100), "is damaged"],
    ["xz that goes on", Buffer.concat([xz, Buffer.from("more")]), "goes on after its end"],
    ["xz of no tar", zeros.subarray(0, 6), "is cut short"],
    ["a bomb of xz", Buffer.concat(Array(17).fill(zeros)), "expands to more than 268435456 bytes"],
    ["zstd that is cut short", zst.subarray(0, -10), "is cut short"],
    ["zstd with a wrong sum", changed(zst, -1), "is damaged"],
    ["zstd with wrong data", changed(zst, 100), "is damaged"],
    ["zstd that goes on", Buffer.concat([zst, Buffer.from("and more")]), "goes on after its end"],
    ["zstd of no tar", zstd([{ blocks: [[0, 5, Buffer.from("hello")]] }]), "is zstd, but of no tar archive"],
    ["zstd of another dictionary", changed(zst, 4), "needs a dictionary"],
    ["a bomb of zstd", zstd([{ blocks: zeroes(2_049) }]), "expands to more than 268435456 bytes"],
    [
      "a bomb of many frames",
      zstd(Array.from({ length: 2_049 }, () => ({ size: BLOCK, blocks: zeroes(1) }))),
      "expands to more than 268435456 bytes",
    ],
    [
      "zstd that says more than it can hold",
      zstd([{ size: 2 ** 27, blocks: zeroes(3) }]),
      "says that it holds 134217728 bytes, which its data cannot",
    ],
    ["zstd that says less", zstd([{ size: 1_000, blocks: zeroes(3) }]), "is damaged"],
    ["zstd with a block of no type", zstd([{ blocks: [[3, 1, zero]] }]), "is damaged"],
    [
      "zstd of a million empty blocks",
      zstd([{ blocks: Array.from({ length: 1_000_001 }, () => [0, 0, new Uint8Array()]) }]),
      "has more than 1000000 frames and blocks",
    ],
  ] as [string, Uint8Array, string][])("%s", (_, bytes, why) => refused(bytes, why));

  it("and the next is read as if nothing had been", async () => {
    const query = { channel: "archive", query: { kind: "entries", path: PATH } } as never;
    const bomb = Buffer.concat(Array<Uint8Array>(17).fill(zeros));
    for (const bytes of [bomb, xz, changed(xz, 100), xz]) await answerOrFault(query, bytes);
    expect(await answerOrFault(query, xz)).toMatchObject({ type: "list" });
  });
});

describe("whatever became of a packed archive's bytes, it has a value or a fault:", () => {
  const queries = [
    { kind: "manifest", path: PATH, directories: true },
    { kind: "text", path: PATH, entry: "a.txt" },
  ].map((query) => ({ channel: "archive", query }) as never);
  it.each([
    ["xz", xz],
    ["zstd", zst],
    ["zstd by hand", zstd([{ blocks: zeroes(1) }, { size: BLOCK, blocks: zeroes(1) }])],
  ])("%s", (_, bytes) => survivesMutation(bytes, queries, 300));
});
