/** HUD: the reward in the result of a call of an evaluation tool. */
import { z } from "zod";
import { isJsonObject, type Json, json } from "../../../verifiers/assertions/json-value.js";
import { defineScorer, fault, given, type Outcome, unit } from "../../scorer.js";

const input = z.strictObject({
  structured: json.optional(),
  /** The result's text blocks, in order. */
  texts: z.array(z.string()).default([]),
  is_error: z.boolean().default(false),
});
type Input = z.output<typeof input>;

const names = ["reward", "grade", "score"] as const;

/** The first of the three names, in that order. */
function named(value: unknown): Json | undefined {
  if (!isJsonObject(value)) return undefined;
  const name = names.find((one) => Object.hasOwn(value, one));
  return name === undefined ? undefined : value[name];
}

/** The sum of subscores by weight, where a result has both. */
function weighted(value: unknown): number | undefined {
  if (!isJsonObject(value) || !isJsonObject(value.subscores) || !isJsonObject(value.weights))
    return undefined;
  const { subscores, weights } = value;
  let sum = 0;
  for (const [name, score] of Object.entries(subscores)) {
    const weight = Object.hasOwn(weights, name) ? weights[name] : 0;
    if (typeof score !== "number" || typeof weight !== "number") return undefined;
    sum += score * weight;
  }
  return sum;
}

/** In text the first key of the three in the object's own order counts, not in theirs. */
function inText(text: string): Json | undefined {
  const value = parse(text);
  if (!isJsonObject(value)) return undefined;
  const key = Object.keys(value).find((name) => (names as readonly string[]).includes(name));
  return key === undefined ? weighted(value) : value[key];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whatever is there, 0 where nothing is, and 0 for an error of the tool. */
function faithful({ structured, texts, is_error }: Input): Outcome<Json> {
  if (is_error) return given<Json>(0);
  const found = [named(structured), weighted(structured), ...texts.map(inText)].find(
    (value) => value !== undefined,
  );
  return given<Json>(found ?? 0);
}

/** Only a number from 0 to 1 is a reward; an error, or a result without one, is no reward of 0 but none. */
function strict(result: Input): Outcome<Json> {
  if (result.is_error) return fault("ToolError", "the evaluation tool reports an error");
  const { structured, texts } = result;
  const found = [named(structured), weighted(structured), ...texts.map(inText)].find(
    (value) => value !== undefined,
  );
  if (found === undefined) return fault("NoReward", "the result has no reward");
  return typeof found === "number" && unit(found) !== undefined
    ? given<Json>(found)
    : fault("NoReward", "the reward is no number from 0 to 1");
}

export const hudReward = defineScorer<Input, Json>({
  name: "hud.reward",
  version: 1,
  input: input,
  score: { faithful, strict },
  reward: (value) => (typeof value === "number" ? unit(value) : undefined),
});
