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
  /** Parses the input (`bad_request` with the path if it is none of this scorer's) and scores it. */
  score(input: unknown): Outcome<Value>;
  /** The share of the task that a value stands for, from 0 to 1; undefined where the value grades nothing. */
  reward(value: Value): number | undefined;
}

interface Definition<Input, Value> {
  name: string;
  version: number;
  input: z.ZodType<Input>;
  score: Record<Profile, (input: Input) => Outcome<Value>>;
  reward: (value: Value) => number | undefined;
}

/** Both profiles of a scorer. Where nothing published is known to be wrong, they are one function. */
export function defineScorer<Input, Value>(
  definition: Definition<Input, Value>,
): Record<Profile, Scorer<Input, Value>> {
  const make = (profile: Profile): Scorer<Input, Value> => ({
    id: `${definition.name}.v${definition.version}/${profile}`,
    name: definition.name,
    version: definition.version,
    profile,
    input: definition.input,
    score: (input) => definition.score[profile](parseOrThrow(definition.input, input, "bad_request")),
    reward: definition.reward,
  });
  return { faithful: make("faithful"), strict: make("strict") };
}

/** The same function in both profiles. */
export const both = <F>(score: F): Record<Profile, F> => ({ faithful: score, strict: score });

/** The reward of a score that is one already; anything outside [0,1] grades nothing. */
export const unit = (value: number): number | undefined => (value >= 0 && value <= 1 ? value : undefined);
