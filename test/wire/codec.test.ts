import { decode, encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ShinkenError } from "../../src/errors/index.js";
import { decodeMessage, defaultWireLimits, encodeMessage } from "../../src/wire/index.js";

/** What the wire carries: numbers up to 2^53-1, text, and maps and arrays of them. */
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
    fc.string({ unit: "grapheme" }),
    fc.array(tie("value"), { maxLength: 20 }),
    fc.dictionary(
      fc.string({ unit: "grapheme" }).filter((key) => key !== "__proto__"),
      tie("value"),
      { maxKeys: 20, noNullPrototype: true },
    ),
  ),
})).value;

const bytesOf = (frame: string | Uint8Array) =>
  typeof frame === "string" ? new TextEncoder().encode(frame) : frame.slice();

/** Neither encoder keeps the sign of zero. */
const unsigned = (input: unknown): unknown =>
  JSON.parse(JSON.stringify(input), (_, entry: unknown) => (Object.is(entry, -0) ? 0 : entry));

describe.each(["msgpack", "json"] as const)("the %s codec", (encoding) => {
  it("gives back what was put in", () => {
    fc.assert(
      fc.property(value, (message) => {
        const decoded = decodeMessage(bytesOf(encodeMessage(message, encoding)), encoding);
        expect(unsigned(decoded)).toEqual(unsigned(message));
      }),
    );
  });

  it("never throws anything but a ShinkenError on any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          decodeMessage(bytes, encoding);
        } catch (error) {
          expect(error).toBeInstanceOf(ShinkenError);
          expect(["bad_message", "too_large"]).toContain((error as ShinkenError).code);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("never throws anything but a ShinkenError on a message with one byte changed", () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.nat(255), (message, position, replacement) => {
        const bytes = bytesOf(encodeMessage(message, encoding));
        bytes[position % bytes.length] = replacement;
        try {
          decodeMessage(bytes, encoding);
        } catch (error) {
          expect(error).toBeInstanceOf(ShinkenError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("leaves out fields that are undefined", () => {
    expect(decodeMessage(bytesOf(encodeMessage({ a: 1, b: undefined }, encoding)), encoding)).toEqual({
      a: 1,
    });
  });

  it.each([
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [2 ** 53],
    [-1e300],
    [10n],
    [() => 1],
    [new Date(0)],
    [new Uint8Array(1)],
  ])("refuses to send %s", (bad) => {
    expect(() => encodeMessage({ a: [bad] }, encoding)).toThrow(
      expect.objectContaining({ code: "internal", path: "a[0]" }),
    );
  });

  it("takes an array of exactly the limit, and none longer", () => {
    const limits = { ...defaultWireLimits, maxArrayEntries: 5 };
    const frame = (length: number) => bytesOf(encodeMessage(Array(length).fill(1), encoding));
    expect(decodeMessage(frame(5), encoding, limits)).toHaveLength(5);
    expect(() => decodeMessage(frame(6), encoding, limits)).toThrow(
      expect.objectContaining({ code: "too_large" }),
    );
  });

  it("counts all values against their limit", () => {
    const limits = { ...defaultWireLimits, maxValues: 6 };
    const frame = (length: number) => bytesOf(encodeMessage({ a: Array(length).fill(1) }, encoding));
    expect(decodeMessage(frame(4), encoding, limits)).toEqual({ a: [1, 1, 1, 1] });
    expect(() => decodeMessage(frame(5), encoding, limits)).toThrow(
      expect.objectContaining({ code: "too_large" }),
    );
  });
});

describe("the msgpack scan", () => {
  it("accepts only what an ordinary decoder decodes to the same value", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        let ours: unknown;
        try {
          ours = decodeMessage(bytes, "msgpack");
        } catch {
          return;
        }
        const exact = decode(bytes, { useBigInt64: true });
        expect(
          JSON.stringify(exact, (_, entry: unknown) => (typeof entry === "bigint" ? Number(entry) : entry)),
        ).toBe(JSON.stringify(ours));
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    [2n ** 53n - 1n, true],
    [2n ** 53n, false],
    [-(2n ** 53n) + 1n, true],
    [-(2n ** 53n), false],
    [2n ** 63n - 1n, false],
    [1n, true],
  ])("of the integer %s in 64 bits says safe: %s", (integer, safe) => {
    const bytes = encode({ a: integer }, { useBigInt64: true });
    if (safe) expect(decodeMessage(bytes, "msgpack")).toEqual({ a: Number(integer) });
    else expect(() => decodeMessage(bytes, "msgpack")).toThrow(expect.objectContaining({ path: "a" }));
  });

  it("finds a duplicate key in a large map", () => {
    const entries = Array.from({ length: 100 }, (_, i) => [`key${i}`, i] as const);
    const parts = [
      Buffer.from([0xde, 0, 101]),
      ...entries.map(([key, entry]) => Buffer.concat([encode(key), encode(entry)])),
      encode("key50"),
      encode(0),
    ];
    expect(() => decodeMessage(Buffer.concat(parts), "msgpack")).toThrow(
      expect.objectContaining({ path: "key50" }),
    );
  });
});
