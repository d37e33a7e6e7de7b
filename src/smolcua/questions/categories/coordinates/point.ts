/** Candidates that are points. */
import type { Candidate, Draft } from "../../types.js";

export interface Point {
  x: number;
  y: number;
}

export const pointFields = ["x", "y"] as const;

export function candidateAt({ x, y }: Point): Candidate {
  return { text: `(${x}, ${y})`, values: [String(x), String(y)] };
}

/** A draft whose options are points. Points that happen to be alike make it unsound, and it is drawn again. */
export function pointDraft(
  situation: string,
  question: string,
  right: Point,
  wrong: readonly [Point, Point, Point],
): Draft {
  const [a, b, c] = wrong;
  return {
    situation,
    question,
    fields: pointFields,
    numbers: true,
    right: candidateAt(right),
    wrong: [candidateAt(a), candidateAt(b), candidateAt(c)],
  };
}
