/** Candidates of two decisions, each taken right or slipped. */
import type { Candidate, Draft } from "./types.js";

/**
 * Right, a slip in one decision, in the other, in both: no option stands out by what it shares with the others. A slip that is no
 * other than the right decision makes the draft unsound, and it is drawn again.
 */
export function crossed<A, B>(
  make: (a: A, b: B) => Candidate,
  [a, slipA]: readonly [right: A, slip: A],
  [b, slipB]: readonly [right: B, slip: B],
): Pick<Draft, "right" | "wrong"> {
  return { right: make(a, b), wrong: [make(a, slipB), make(slipA, b), make(slipA, slipB)] };
}
