/** What an endpoint answered, read strictly where the scaffold needs it and leniently where it only records. */
import { z } from "zod";
import type { Call } from "./conversation.js";

export interface Completion {
  content: string;
  calls: Call[];
  /** What the model thought before, where the endpoint tells it apart. */
  reasoning: string | null;
  refusal: string | null;
  finish: string | null;
  /** The model as the endpoint names it. */
  model: string | null;
  fingerprint: string | null;
  /** Null where the endpoint does not count. */
  usage: { prompt_tokens: number; completion_tokens: number; [field: string]: unknown } | null;
  promptTokenIds: number[] | null;
  tokenIds: number[] | null;
  /** Natural logarithms. */
  logprobs: number[] | null;
}

const counted = z.int().min(0);
const ids = z.array(counted);
/** What is only recorded: where it has another shape it counts as not told. */
const recorded = <T extends z.ZodType>(schema: T) => schema.nullish().catch(null);

const part = z.union([z.string(), z.looseObject({ text: z.string().optional() })]);
const call = z.looseObject({
  id: z.string().nullish(),
  function: z.looseObject({
    name: z.string(),
    /** Some servers give the parsed value. */
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  }),
});

const choice = z.looseObject({
  message: z.looseObject({
    content: z.union([z.string(), z.array(part)]).nullish(),
    tool_calls: z.array(call).nullish(),
    refusal: recorded(z.string()),
    reasoning_content: recorded(z.string()),
    reasoning: recorded(z.string()),
  }),
  finish_reason: z.string().nullish(),
  logprobs: recorded(z.looseObject({ content: z.array(z.looseObject({ logprob: z.number() })).nullish() })),
  // As vLLM gives them with `return_token_ids`: the reply's here, the request's beside `choices`.
  token_ids: recorded(ids),
});

const schema = z.looseObject({
  model: recorded(z.string()),
  system_fingerprint: recorded(z.string()),
  choices: z.tuple([choice], choice),
  usage: recorded(z.looseObject({ prompt_tokens: counted, completion_tokens: counted })),
  prompt_token_ids: recorded(ids),
});

/** Null where it is no chat completion; `why` is told then. */
export function readCompletion(value: unknown): Completion | { why: string } {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { why: `the reply is no chat completion (${issue?.path.join(".")}: ${issue?.message})` };
  }
  const { model, system_fingerprint, usage, prompt_token_ids, choices } = parsed.data;
  const { message, finish_reason, logprobs, token_ids } = choices[0];
  return {
    content: textOf(message.content),
    calls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => ({
      id: id ?? "",
      name,
      arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}),
    })),
    reasoning: message.reasoning_content ?? message.reasoning ?? null,
    refusal: message.refusal ?? null,
    finish: finish_reason ?? null,
    model: model ?? null,
    fingerprint: system_fingerprint ?? null,
    usage: usage ?? null,
    promptTokenIds: prompt_token_ids ?? null,
    tokenIds: token_ids ?? null,
    logprobs: logprobs?.content?.map(({ logprob }) => logprob) ?? null,
  };
}

function textOf(content: string | (string | { text?: string | undefined })[] | null | undefined): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((one) => (typeof one === "string" ? one : (one.text ?? ""))).join("");
}
