/** OSWorld's `are_lists_equal`, by which open tabs are compared. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { json } from "../../../verifiers/assertions/json-value.js";
import { defineScorer, given, type Outcome } from "../../scorer.js";

const input = z.strictObject({ a: z.array(json), b: z.array(json) });
type Lists = z.output<typeof input>;

/** As many, and each of the first somewhere in the second: [A, A] equals [A, C], and not the other way round. */
function faithful({ a, b }: Lists): Outcome<boolean> {
  return given(a.length === b.length && a.every((one) => b.some((other) => isDeepStrictEqual(one, other))));
}

/** The same values as often, in any order. */
function strict({ a, b }: Lists): Outcome<boolean> {
  const left = [...b];
  const found = a.every((one) => {
    const at = left.findIndex((other) => isDeepStrictEqual(one, other));
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  });
  return given(found && left.length === 0);
}

export const osworldLists = defineScorer({
  name: "osworld.are_lists_equal",
  version: 1,
  input,
  score: { faithful, strict },
  reward: Number,
});
