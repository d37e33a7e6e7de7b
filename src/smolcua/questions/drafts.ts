/** Two designs of options in which the right one has no mark of its own. */
import { crossedTexts } from "./crossed.js";
import type { Candidate, Draft } from "./types.js";

/** Two independent decisions, each with a right and a wrong side: four combinations, one right. */
export interface Crossing {
  situation: string;
  question: string;
  fields: readonly [string, string];
  /** The right side, then the wrong one. */
  first: readonly [string, string];
  second: readonly [string, string];
  say: (first: string, second: string) => string;
}

export function crossedSides({ first, second, ...said }: Crossing): Draft {
  return crossedTexts({ ...said, right: [first[0], second[0]], slip: [first[1], second[1]] });
}

/** Four options that stay the same whichever is right: the situation decides, by their place in `options`. */
export interface Pool {
  situation: string;
  question: string;
  fields: readonly string[];
  /** The parts of each option. */
  options: readonly (readonly string[])[];
  right: number;
  /** The option as it is shown; without it the parts with spaces between. */
  say?: (...values: readonly string[]) => string;
}

export function pooled({ situation, question, fields, options, right, say }: Pool): Draft {
  const all = options.map(
    (values): Candidate => ({
      text: say === undefined ? values.join(" ") : say(...values),
      values,
    }),
  );
  const [a, b, c] = all.filter((_, at) => at !== right);
  const key = all[right];
  if (all.length !== 4 || !key || !a || !b || !c)
    throw new RangeError(`${all.length} options, ${right} right`);
  return { situation, question, fields, right: key, wrong: [a, b, c] };
}

/** The side that holds, then the other. */
export function sides<T>(holds: boolean, yes: T, no: T): [T, T] {
  return holds ? [yes, no] : [no, yes];
}

/** Minutes after midnight as a clock shows them, 00:00 to 23:59. */
export function clock(minutes: number): string {
  const day = ((minutes % 1440) + 1440) % 1440;
  return `${String(Math.floor(day / 60)).padStart(2, "0")}:${String(day % 60).padStart(2, "0")}`;
}
