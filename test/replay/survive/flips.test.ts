/** Flipped bits in bundles whose bytes never change: each is found, and where it stands is known for all that a record tells of itself. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { check, recover } from "../../../src/replay/index.js";
import { scratch } from "../support/recording.js";

const released = new URL("../../conformance/skn/golden/version-1/", import.meta.url).pathname;
/** A file of every kind of record; a longer one has more of the same. */
const sample = "blobs.skn";
/** One bit in so many is flipped: of opcodes, of lengths and the other fields that a record begins with, and of what it holds. */
function stride(within: number): number {
  if (within < 1) return 1;
  return within < 54 ? 11 : 1_009;
}
const magicBytes = 8;

interface Place {
  at: number;
  opcode: number;
  /** Bytes with opcode and length. */
  bytes: number;
}

function recordsOf(file: Buffer): Place[] {
  const records: Place[] = [];
  for (let at = magicBytes; at < file.length - magicBytes; at += records.at(-1)?.bytes ?? 0)
    records.push({ at, opcode: file.readUInt8(at), bytes: 9 + Number(file.readBigUInt64LE(at + 1)) });
  return records;
}

/** Where the damage of a byte may be said to begin. 0 where only the checksum of all data tells. */
function expected(file: Buffer, { at, opcode, bytes }: Place, byte: number): number[] {
  const within = byte - at;
  if (byte >= file.length - magicBytes) return [at];
  if (opcode === 1) return within >= bytes - file.readUInt32LE(at + 9 + 4 + 3) ? [0] : [at];
  if (opcode === 15) return within >= 9 ? [0] : [at];
  // A Zstandard frame has bits that no unpacked byte depends on.
  const compressed = opcode === 6 && file.readUInt32LE(at + 37) > 0;
  return compressed && within >= 53 ? [at, 0] : [at];
}

describe("replay check of a bundle with one flipped bit", () => {
  it("finds it, and names the record in which it is", async () => {
    const whole = readFileSync(join(released, "bundles", sample));
    const folder = scratch();
    cpSync(join(released, "blobs"), join(folder, "blobs"), { recursive: true });
    const path = join(folder, sample);
    writeFileSync(path, whole);
    expect(await check(path)).toMatchObject([{ status: "unindexed", damage: null }]);
    const records = recordsOf(whole);
    const wrong: string[] = [];
    let tried = 0;
    for (let bit = 0; bit < whole.length * 8; bit += 1) {
      const byte = bit >> 3;
      const record = records.findLast(({ at }) => at <= byte) ?? { at: 0, opcode: 0, bytes: magicBytes };
      if (bit % stride(byte - record.at) !== 0) continue;
      tried += 1;
      const bytes = Buffer.from(whole);
      bytes[byte] = (bytes[byte] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(path, bytes);
      const [{ status, damage } = { status: "none", damage: null }] = await check(path);
      const places = expected(whole, record, byte);
      if (status !== "damaged" || damage === null || !places.includes(damage.at))
        wrong.push(`bit ${bit}: ${status} at ${damage?.at}, not ${places.join(" or ")}: ${damage?.what}`);
    }
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(1_000);
  });

  it("names no damage in any bundle that is whole", async () => {
    for (const { status, damage, file } of await check(join(released, "bundles")))
      expect([file, status, damage]).toEqual([file, expect.stringMatching(/^(unindexed|unfinished)$/), null]);
  });

  it("keeps all that came before the chunk whose opcode it changed", async () => {
    const whole = readFileSync(join(released, "bundles", sample));
    const chunks = recordsOf(whole).filter(({ opcode }) => opcode === 6);
    const hit = chunks[2]?.at ?? 0;
    const path = join(scratch(), sample);
    for (const opcode of [2, 4, 7, 14]) {
      const bytes = Buffer.from(whole);
      bytes[hit] = opcode;
      writeFileSync(path, bytes);
      const [recovery] = await recover(path);
      expect(recovery).toMatchObject({ status: "salvaged", damage: { at: hit } });
      expect(readFileSync(path).subarray(0, hit).equals(whole.subarray(0, hit))).toBe(true);
    }
  });
});
