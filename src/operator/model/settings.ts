/** All that is fixed for a run of a model, and recorded with it. Plain JSON; the key is not among it. */
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { dialectNames } from "./dialects/index.js";

const count = z.int().min(1);
const limit = count.nullable().default(null);

const budget = z.strictObject({
  /** Steps of the episode. */
  steps: count.nullable().default(100),
  tokens_in: limit,
  tokens_out: limit,
  /** From the first choice on, the machine's work included. Seconds of the host. */
  wall_s: z.number().positive().max(604_800).nullable().default(null),
  dollars: z.number().positive().nullable().default(null),
});

const retry = z.strictObject({
  /** Of one request, the first included. */
  tries: z.int().min(1).max(100).default(6),
  /** The n-th wait is a random share of `base_ms` * 2^n, and of `cap_ms` at most. */
  base_ms: z.number().min(0).default(500),
  cap_ms: z.number().min(0).default(30_000),
  /** The longest Retry-After that is waited for; beyond, the request has failed. */
  patience_ms: z.number().min(0).default(120_000),
});

const url = z.url({ protocol: /^https?$/ }).refine((text) => {
  if (!URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username === "" && password === "" && search === "" && hash === "";
}, "an address is recorded: it holds no name, password or query");

export const settingsSchema = z.strictObject({
  /** Up to and without `/chat/completions`. */
  base_url: url,
  model: z.string().min(1),
  dialect: z.enum(dialectNames).default("tools"),
  /** Null: not sent, so the endpoint's own. */
  temperature: z.number().min(0).max(2).nullable().default(1),
  top_p: z.number().gt(0).max(1).nullable().default(null),
  /** The seed sent is drawn from it and the episode's seed. */
  seed: z.int().min(0).nullable().default(null),
  /** Tokens of one reply. */
  max_tokens: count.default(4_096),
  /** What the endpoint calls that bound. */
  max_tokens_field: z.enum(["max_tokens", "max_completion_tokens"]).default("max_tokens"),
  /** Tokens of request and reply together. */
  context_tokens: count.default(32_768),
  /** Ask for log-probabilities, and for token ids as vLLM gives them. */
  logprobs: z.boolean().default(false),
  token_ids: z.boolean().default(false),
  budget: budget.default(budget.parse({})),
  /** US dollars for a million tokens. */
  price: z
    .strictObject({ input: z.number().min(0), output: z.number().min(0) })
    .nullable()
    .default(null),
  retry: retry.default(retry.parse({})),
  /** Of one request. */
  timeout_s: z.number().positive().max(86_400).default(600),
  /** Replies in a row without a usable step that are answered; the next one ends the episode. */
  malformed: z.int().min(0).max(100).default(3),
  /** Repeats after which a loop is told to the model; null: loops are not looked for. */
  loop: z.int().min(2).nullable().default(3),
});

export type ModelSettings = z.output<typeof settingsSchema>;
export type ModelSettingsInput = z.input<typeof settingsSchema>;

/** Throws `bad_request` with the path of the first fault. */
export function parseSettings(input: unknown): ModelSettings {
  const settings = parseOrThrow(settingsSchema, input, "bad_request");
  if (settings.budget.dollars !== null && settings.price === null)
    throw new ShinkenError("bad_request", "budget.dollars: needs a price", {
      path: "price",
      suggestion: "give the price of a million tokens in and out",
    });
  if (settings.max_tokens >= settings.context_tokens)
    throw new ShinkenError("bad_request", "max_tokens: leaves no room in the context for a request", {
      path: "max_tokens",
    });
  return settings;
}
