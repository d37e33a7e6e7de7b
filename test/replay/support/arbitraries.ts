/** What properties of the bundle format are tried with. */
import fc from "fast-check";

/** Any code units, halves of surrogate pairs among them. */
export const anyText = fc
  .array(fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd800, max: 0xdfff }), fc.nat(127)), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));

export const wellFormedText = fc.string({ unit: "binary", maxLength: 300 });

/** What JSON says, bytes, and numbers that JSON does not say; -0 is 0. Names that mean something to objects are among the fields'. */
export function json(text: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const names = fc.oneof(fc.constantFrom("__proto__", "constructor", "toString", "length", "0", ""), text);
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(null, true, false),
      fc.maxSafeInteger(),
      fc.double().map((number) => number + 0),
      text,
      fc.uint8Array({ maxLength: 40 }),
      fc.array(tie("value"), { maxLength: 5 }),
      // Unlike an assignment, this makes a field of every name.
      fc.array(fc.tuple(names, tie("value")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
    ),
  })).value;
}
