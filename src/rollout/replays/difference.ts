/** Whether a step that was run again is the one that was recorded, and what is not. */
import { decode, encode } from "@msgpack/msgpack";
import { isDeepStrictEqual } from "node:util";
import { hostTimeKeys } from "../../env/index.js";
import type { EnvironmentEvent, Info, Observation, StepResult } from "../../env/environment.js";
import type { StateMark } from "../../env/provenance.js";
import type { BundleStep } from "../../replay/index.js";

/** What is compared. */
export type Aspect = "state" | "observation" | "reward";

/** The first thing that is not as it was recorded. */
export interface Difference {
  /** 0: the state after the reset. Of a branch, the step that it continues from. */
  step: number;
  /** `end`: one of the two episodes is over and the other is not. */
  what: Aspect | "end";
  /** A sentence for people: where, recorded, and now. */
  detail: string;
}

/** What a session gave for a step; the reset has no reward and no end. */
export interface Lived {
  observation: Observation;
  info: Info;
  result?: Pick<StepResult, "reward" | "terminated" | "truncated">;
  /** Milestones that paid during the step. */
  paid: readonly Extract<EnvironmentEvent, { event: "milestone" }>[];
  /** Null where nobody compares it. */
  state: StateMark | null;
}

/** Fields of an info that tell of the host, or of what the session was asked to keep, and not of the episode. */
const untold = new Set([...hostTimeKeys, "checkpoint"]);

/** Characters that a message shows of a value. */
const shownChars = 80;

/**
 * The first difference between a recorded step and the same step now; null if there is none. The state comes first: where machines
 * differ, all else may. What was recorded as secret is not compared, nor is what the recording does not tell.
 */
export function differenceOf(
  recorded: BundleStep,
  lived: Lived,
  compare: ReadonlySet<Aspect>,
): Omit<Difference, "step"> | null {
  const seen = compare.has("observation") ? observationOf(recorded, lived) : null;
  if (compare.has("state")) {
    const state = stateOf(recorded, lived.state);
    if (state !== null)
      return { what: "state", detail: seen === null ? state : `${state}; also ${seen.detail}` };
  }
  if (seen !== null) return seen;
  return compare.has("reward") ? rewardOf(recorded, lived) : null;
}

function stateOf({ snapshot }: BundleStep, now: StateMark | null): string | null {
  if (snapshot === null || now === null || snapshot.digest === now.digest) return null;
  const executed =
    snapshot.instructions === now.instructions
      ? `${now.instructions} instructions in both`
      : `${snapshot.instructions} instructions recorded, ${now.instructions} now`;
  return `state ${short(snapshot.digest)} recorded, ${short(now.digest)} now (${executed})`;
}

function observationOf(recorded: BundleStep, lived: Lived): Omit<Difference, "step"> | null {
  const event = recorded.observation;
  if (event === null) return null;
  const secret = new Set(event.redacted ?? []);
  const { terminated = false, truncated = false } = lived.result ?? {};
  const now = asRecorded({ terminated, truncated, info: lived.info, observation: lived.observation });
  const ended = (["terminated", "truncated"] as const).find((key) => event[key] !== now[key]);
  if (ended !== undefined)
    return { what: "end", detail: `${ended}: ${event[ended]} recorded, ${String(now[ended])} now` };
  const place =
    firstPlace(event.observation, now["observation"], "/observation", secret) ??
    firstPlace(told(event.info), told(now["info"] as Info), "/info", secret);
  return place === null ? null : { what: "observation", detail: sentence(place) };
}

function rewardOf(recorded: BundleStep, lived: Lived): Omit<Difference, "step"> | null {
  if (lived.result === undefined) return null;
  const whole = recorded.rewards.find(({ check }) => check === null)?.reward ?? 0;
  const milestones = recorded.rewards
    .filter(({ check }) => check !== null)
    .map(({ check, reward, partial }) => ({ check, reward, partial: partial === true }));
  const paid = lived.paid.map(({ check, reward, partial }) => ({ check, reward, partial: partial === true }));
  const place =
    firstPlace(whole, lived.result.reward, "/reward", new Set()) ??
    firstPlace(milestones, paid, "/milestones", new Set());
  return place === null ? null : { what: "reward", detail: sentence(place) };
}

const told = (info: Info): Info =>
  Object.fromEntries(Object.entries(info).filter(([key]) => !untold.has(key)));

/** The value as a bundle gives it back: without undefined fields, texts without lone surrogates. */
function asRecorded(value: Record<string, unknown>): Record<string, unknown> {
  return decode(encode(value, { ignoreUndefined: true })) as Record<string, unknown>;
}

interface Place {
  path: string;
  recorded: unknown;
  now: unknown;
}

/** Where two values first differ, in the order of the recorded one's fields. */
function firstPlace(
  recorded: unknown,
  now: unknown,
  path: string,
  secret: ReadonlySet<string>,
): Place | null {
  if (secret.has(path) || isDeepStrictEqual(recorded, now)) return null;
  if (!isMap(recorded) || !isMap(now) || Array.isArray(recorded) !== Array.isArray(now))
    return { path, recorded, now };
  for (const key of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
    const place = firstPlace(recorded[key], now[key], `${path}/${key}`, secret);
    if (place !== null) return place;
  }
  // Fields in another order are no difference.
  return null;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array);
}

function sentence({ path, recorded, now }: Place): string {
  const name = path.slice(1).replaceAll("/", ".");
  const [before, after] = shown(recorded, now);
  return `${name}: ${before} recorded, ${after} now`;
}

/** Of long texts the part where they part. */
function shown(recorded: unknown, now: unknown): [string, string] {
  if (typeof recorded !== "string" || typeof now !== "string") return [brief(recorded), brief(now)];
  let same = 0;
  while (same < recorded.length && recorded[same] === now[same]) same += 1;
  const from = same > shownChars / 2 ? same - shownChars / 4 : 0;
  const cut = (text: string): string => (from === 0 ? "" : "...") + brief(text.slice(from));
  return [cut(recorded), cut(now)];
}

function brief(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value);
  return text.length > shownChars ? `${text.slice(0, shownChars)}...` : text;
}

const short = (digest: string): string => digest.slice(0, 16);
