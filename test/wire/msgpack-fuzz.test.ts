/**
 * The decoder of the wire on bytes that look like msgpack: every head, in every width, with lengths that lie, numbers that do
 * not fit, text that is none. `SHINKEN_FUZZ_RUNS=1000000 npx vitest run test/wire/msgpack-fuzz.test.ts` is the nightly command.
 */
import { Buffer } from "node:buffer";
import { decode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ShinkenError } from "../../src/errors/index.js";
import { decodeMessage } from "../../src/wire/index.js";

const numRuns = Number(process.env["SHINKEN_FUZZ_RUNS"] ?? 5000);
/** A hundred inputs a second at least; usually it is fifty times as many. */
const timeout = Math.max(60_000, numRuns * 10);

const bigEndian = (width: number, value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value));
  return bytes.subarray(8 - width);
};
const headed = (head: number, ...rest: Uint8Array[]): Buffer => Buffer.concat([Uint8Array.of(head), ...rest]);

/** Integers of 1, 2, 4 and 8 bytes, unsigned from 0xcc on, signed from 0xd0 on; near the edges of each. */
const integer = fc
  .tuple(
    fc.nat(7),
    fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
      fc.constantFrom(
        0n,
        1n,
        127n,
        128n,
        2n ** 31n,
        2n ** 53n - 1n,
        2n ** 53n,
        -(2n ** 53n) + 1n,
        -(2n ** 53n),
      ),
    ),
  )
  .map(([kind, value]) => headed(0xcc + kind, bigEndian(1 << (kind & 3), value)));
const float = fc
  .tuple(
    fc.boolean(),
    fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 2 ** 60)),
  )
  .map(([wide, value]) => {
    const bytes = Buffer.alloc(wide ? 8 : 4);
    if (wide) bytes.writeDoubleBE(value);
    else bytes.writeFloatBE(value);
    return headed(wide ? 0xcb : 0xca, bytes);
  });
const single = fc.integer({ min: 0, max: 255 }).map((head) => Buffer.of(head));

/** A length in one of the ways there are: in the head, or in 1, 2 or 4 bytes. */
const withLength = (
  fixed: number,
  fixedMax: number,
  heads: readonly (number | null)[],
  length: number,
  way: number,
): Buffer => {
  if (way === 0 && length <= fixedMax) return Buffer.of(fixed | length);
  const width = [1, 2, 4][way % 3] ?? 4;
  const head = heads[way % 3];
  return head === null || head === undefined || length >= 2 ** (8 * width)
    ? headed(heads[2] ?? 0xc1, bigEndian(4, BigInt(length)))
    : headed(head, bigEndian(width, BigInt(length)));
};
/** The true length, mostly. */
const lie = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: -2, max: 70_000 }) },
);

const text = fc
  .tuple(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 20 }).map((s) => Buffer.from(s)),
      fc.uint8Array({ maxLength: 8 }),
    ),
    fc.nat(3),
    lie,
  )
  .map(([bytes, way, off]) =>
    Buffer.concat([withLength(0xa0, 31, [0xd9, 0xda, 0xdb], Math.max(0, bytes.length + off), way), bytes]),
  );
/** Binary and extension types, of which the wire knows none. */
const foreign = fc
  .tuple(
    fc.constantFrom(0xc1, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8),
    fc.uint8Array({ maxLength: 20 }),
  )
  .map(([head, bytes]) => headed(head, bytes));

const message = fc.letrec<{ value: Buffer; array: Buffer; map: Buffer }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    single,
    integer,
    float,
    text,
    { weight: 1, arbitrary: foreign },
    { weight: 4, arbitrary: tie("array") },
    { weight: 4, arbitrary: tie("map") },
  ),
  array: fc
    .tuple(fc.array(tie("value"), { maxLength: 6 }), fc.nat(3), lie)
    .map(([items, way, off]) =>
      Buffer.concat([
        withLength(0x90, 15, [null, 0xdc, 0xdd], Math.max(0, items.length + off), way),
        ...items,
      ]),
    ),
  map: fc
    .tuple(
      fc.array(fc.tuple(fc.oneof({ weight: 6, arbitrary: text }, tie("value")), tie("value")), {
        maxLength: 5,
      }),
      fc.nat(3),
      lie,
    )
    .map(([entries, way, off]) =>
      Buffer.concat([
        withLength(0x80, 15, [null, 0xde, 0xdf], Math.max(0, entries.length + off), way),
        ...entries.flat(),
      ]),
    ),
})).value;

/** With a byte changed, or the end cut off, now and then. */
const bytes = fc.tuple(message, fc.nat(9), fc.nat(), fc.nat(255)).map(([made, what, at, value]) => {
  if (made.length === 0) return made;
  if (what === 0) return made.subarray(0, at % made.length);
  if (what === 1) made[at % made.length] = value;
  return made;
});

describe("the msgpack decoder", () => {
  it(
    "takes what an ordinary decoder takes for the same value, and refuses the rest by code and path",
    () => {
      let taken = 0;
      fc.assert(
        fc.property(bytes, (input) => {
          let ours: unknown;
          try {
            ours = decodeMessage(input, "msgpack");
          } catch (error) {
            expect(error).toBeInstanceOf(ShinkenError);
            expect(["bad_message", "too_large"]).toContain((error as ShinkenError).code);
            expect((error as ShinkenError).path).toBeTypeOf("string");
            return;
          }
          taken += 1;
          const exact = decode(input, { useBigInt64: true });
          expect(
            JSON.stringify(exact, (_, entry: unknown) => (typeof entry === "bigint" ? Number(entry) : entry)),
          ).toBe(JSON.stringify(ours));
        }),
        { numRuns },
      );
      // Inputs of which hardly any is a message would show little.
      expect(taken).toBeGreaterThan(numRuns / 5);
    },
    timeout,
  );
});
