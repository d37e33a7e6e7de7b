/**
 * What a published scorer is here: a pure function with a name, a version and a profile. `faithful` does what the published
 * program does, bugs included, so that scores can be compared; `strict` does the right thing where that is known to be
 * wrong. Neither throws on any input that its schema takes: where the published program would end with an exception, the
 * outcome is a fault that names it, and never a score.
 */
import type { z } from "zod";
import { parseOrThrow } from "../errors/parse.js";

export const profiles = ["faithful", "strict"] as const;
export type Profile = (typeof profiles)[number];

/** What the published program would have raised, or what a strict profile refuses to read. */
export interface Fault {
  /** Name of the exception, e.g. `ValueError`. */
  kind: string;
  message: string;
}

/** A value, or the reason why there is none. */
export type Outcome<T> = { value: T; fault?: undefined } | { fault: Fault; value?: undefined };

export const given = <T>(value: T): Outcome<T> => ({ value });

export const fault = (kind: string, message: string): { fault: Fault } => ({ fault: { kind, message } });

/** A fault as one line, as `type(error).__name__ str(error)`. */
export const faultText = ({ kind, message }: Fault): string => `${kind} ${message}`;

export interface Scorer<Input = unknown, Value = unknown> {
  /** Name, version and profile, e.g. `gaia.question.v1/faithful`. */
  readonly id: string;
  readonly name: string;
  /** Grows with every change of behaviour; older versions stay. */
  readonly version: number;
  readonly profile: Profile;
  readonly input: z.ZodType<Input>;
  /** False where no value of it is ever a score: what it gives is parsed text, a call or a date. */
  readonly grades: boolean;
  /** Parses the input (`bad_request` with the path if it is none of this scorer's) and scores it. */
  score(input: unknown): Outcome<Value>;
  /**
   * The same as a score from 0 to 1, for check graphs and rewards. A fault stays one, and a value that grades nothing, such as
   * a parsed text or a verdict that was not given, is the fault `NoScore`.
   */
  grade(input: unknown): Outcome<number>;
}

interface Definition<Input, Value> {
  name: string;
  version: number;
  input: z.ZodType<Input>;
  /** Gets the parsed input, and what was given: a schema puts fields into its own order, and some published programs go by theirs. */
  score: Record<Profile, (input: Input, given: unknown) => Outcome<Value>>;
  /** The share of the task that a value stands for; undefined where it grades nothing, unsaid where none does. */
  reward?: (value: Value) => number | undefined;
}

/** Both profiles of a scorer. Where nothing published is known to be wrong, they are one function. */
export function defineScorer<Input, Value>(
  definition: Definition<Input, Value>,
): Record<Profile, Scorer<Input, Value>> {
  const make = (profile: Profile): Scorer<Input, Value> => {
    const score = (input: unknown): Outcome<Value> =>
      definition.score[profile](parseOrThrow(definition.input, input, "bad_request"), input);
    return {
      id: `${definition.name}.v${definition.version}/${profile}`,
      name: definition.name,
      version: definition.version,
      profile,
      input: definition.input,
      grades: definition.reward !== undefined,
      score,
      grade: (input) => {
        const outcome = score(input);
        if (outcome.fault !== undefined) return outcome;
        const share = definition.reward?.(outcome.value);
        return share === undefined ? fault("NoScore", "the value is no score from 0 to 1") : given(share);
      },
    };
  };
  return { faithful: make("faithful"), strict: make("strict") };
}

/** The same function in both profiles. */
export const both = <F>(score: F): Record<Profile, F> => ({ faithful: score, strict: score });

/** The reward of a score that is one already; anything outside [0,1] grades nothing. */
export const unit = (value: number): number | undefined => (value >= 0 && value <= 1 ? value : undefined);
