import { Encoder } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ObservationDeltas } from "../../src/replay/format/delta.js";
import { mapLeaves, under } from "../../src/replay/format/leaves.js";
import { decodePayload } from "../../src/replay/format/msgpack.js";
import { fromUtf16, fromUtf8, toUtf16 } from "../../src/replay/format/text.js";
import { BlobRef, blobKinds, TextDelta, Utf16Text, values } from "../../src/replay/format/values.js";
import { deltaChars } from "../../src/replay/format/version.js";
import { anyText, json, wellFormedText } from "./support/arbitraries.js";

const encoder = new Encoder({ extensionCodec: values });
const again = (value: unknown): unknown => decodePayload(encoder.encode(value));

describe("a payload", () => {
  it("is decoded to what was encoded, whatever its fields are called", () => {
    fc.assert(
      fc.property(json(wellFormedText), (value) => {
        expect(again(value)).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps a field called __proto__ as a field", () => {
    const value = JSON.parse('{"__proto__": {"a": 1}, "b": [{"__proto__": null}]}') as object;
    const decoded = again(value) as object;
    expect(JSON.stringify(decoded)).toBe(JSON.stringify(value));
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
    expect(JSON.stringify(mapLeaves(decoded, (_path, leaf) => leaf))).toBe(JSON.stringify(value));
  });

  it("keeps references, changes and texts of any code units", () => {
    const hash = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => Buffer.from(bytes).toString("hex"));
    const size = fc.maxSafeNat();
    const ref = fc.tuple(hash, size, fc.constantFrom(...blobKinds)).map((parts) => new BlobRef(...parts));
    const u32 = fc.nat({ max: 2 ** 32 - 1 });
    const delta = fc.tuple(u32, u32, wellFormedText).map((parts) => new TextDelta(...parts));
    fc.assert(
      fc.property(ref, delta, anyText, (blob, change, text) => {
        expect(again([blob, change, new Utf16Text(text)])).toEqual([blob, change, text]);
        expect(fromUtf16(toUtf16(text))).toBe(text);
      }),
    );
  });

  it("keeps a byte order mark, at any length", () => {
    for (const length of [0, 10, 100, 1_000]) {
      const text = `\ufeff${"x".repeat(length)}`;
      expect(again(text)).toBe(text);
      expect(fromUtf8(Buffer.from(text))).toBe(text);
    }
  });

  it("that is any bytes is a value or an error that says why", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decodePayload(bytes);
        } catch (error) {
          expect((error as Error).message).toMatch(/./);
          expect(error).not.toBeInstanceOf(RangeError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

/** A long text, and others that it might become: pieces are replaced, put in, taken out, at any code unit. */
const observations = fc
  .tuple(
    fc.string({ unit: "grapheme", minLength: 150, maxLength: 400 }),
    fc.array(fc.tuple(fc.nat(500), fc.nat(20), anyText, fc.boolean()), { maxLength: 60 }),
  )
  .map(([first, edits]) => {
    const texts = [first.repeat(2)];
    for (const [at, taken, put, dropped] of edits) {
      const before = texts.at(-1) ?? "";
      texts.push(dropped ? put : before.slice(0, at) + put + before.slice(at + taken));
    }
    return texts.map((text, index) => ({
      results: [{ text, "a/b": text }, { a: { b: texts[index - 1] ?? "" } }],
    }));
  });

describe("observations told as changes", () => {
  it("are what they were, whatever was changed", () => {
    fc.assert(
      fc.property(observations, (sequence) => {
        const [writer, reader] = [new ObservationDeltas(), new ObservationDeltas()];
        for (const observation of sequence)
          expect(reader.decode(writer.encode(observation))).toEqual(observation);
      }),
      { numRuns: 200 },
    );
  });

  it("are shorter, and have no half of a surrogate pair in what is told", () => {
    const text = (end: string): string => `${"🌍".repeat(deltaChars)}${end}${"🌎".repeat(10)}`;
    const deltas = new ObservationDeltas();
    deltas.encode({ text: text("🌍") });
    const { text: change } = deltas.encode({ text: text("🌎") }) as { text: TextDelta };
    expect(change.middle).toBe("🌎");
    expect(change.prefix).toBe(2 * deltaChars);
  });

  it("are told apart by place, though names hold what separates places", () => {
    expect(under(under("", "a/b"), "c")).toBe("/a~1b/c");
    expect(under("/x", "~1")).toBe("/x/~01");
  });

  it("are written out anew at the latest after 32 changes", () => {
    const deltas = new ObservationDeltas();
    const kinds = Array.from(
      { length: 100 },
      (_, at) => typeof (deltas.encode({ text: `${"x".repeat(deltaChars)}${at}` }) as { text: unknown }).text,
    );
    expect(kinds.flatMap((kind, at) => (kind === "string" ? [at] : []))).toEqual([0, 33, 66, 99]);
  });
});
