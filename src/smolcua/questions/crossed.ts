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

type Pair = readonly [string, string];

export interface CrossedTexts {
  situation: string;
  question: string;
  fields: Pair;
  /** The option's text of two parts. */
  say: (first: string, second: string) => string;
  right: Pair;
  /** What somebody hurried would take for the first part, and for the second. */
  slip: Pair;
}

/** The draft whose candidates are two texts, each of one decision. */
export function crossedTexts({ situation, question, fields, say, right, slip }: CrossedTexts): Draft {
  const option = (first: string, second: string): Candidate => ({
    text: say(first, second),
    values: [first, second],
  });
  return {
    situation,
    question,
    fields,
    ...crossed(option, [right[0], slip[0]], [right[1], slip[1]]),
  };
}
