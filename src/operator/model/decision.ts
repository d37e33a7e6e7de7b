/** What is recorded of a choice: whole, so that a step's own record says what the model read. */
import type { ToolDescription } from "../../env/aci/index.js";
import type { Decision } from "../../env/environment.js";
import type { Usage } from "./account.js";
import type { Completion } from "./completion.js";
import type { Call, ChatMessage } from "./conversation.js";
import type { Dialect } from "./dialects/index.js";
import { scaffoldVersion } from "./scaffold.js";
import type { ModelSettings } from "./settings.js";

/** One reply, used or not. */
export interface Made {
  completion: Completion;
  /** What it calls. */
  calls: readonly Call[];
  /** As it is shown to the model later. */
  reply: ChatMessage;
  usage: Usage;
  latencyMs: number;
}

/** Of token ids, so that a step fits into a message of the wire; longer ones are left out and named. */
const idsAtMost = 65_536;

/** `attempts`: replies before this one that could not be used, with what was wrong. `tools`: told once an episode. */
export function decisionOf(
  settings: ModelSettings,
  dialect: Dialect,
  made: Made,
  told: {
    input: readonly ChatMessage[];
    tools: readonly ToolDescription[] | null;
    seed: number | null;
    attempts: readonly (Made & { fault: string })[];
  },
): Decision {
  const { temperature, top_p, max_tokens, model } = settings;
  return {
    model: made.completion.model ?? model,
    scaffold: scaffoldVersion,
    dialect: dialect.name,
    sampling: { temperature, top_p, seed: told.seed, max_tokens },
    ...(told.tools === null ? {} : { tools: dialect.offer(told.tools) }),
    input: told.input,
    ...replyOf(made),
    ...(told.attempts.length === 0
      ? {}
      : { attempts: told.attempts.map((one) => ({ ...replyOf(one), fault: one.fault })) }),
  };
}

function replyOf({ completion, reply, usage, latencyMs }: Made): Record<string, unknown> {
  const { finish, reasoning, refusal, fingerprint } = completion;
  return {
    output: {
      ...reply,
      ...(reasoning === null ? {} : { reasoning_content: reasoning }),
      ...(refusal === null ? {} : { refusal }),
    },
    ...tokensOf(completion),
    usage,
    finish_reason: finish,
    latency_ms: Math.round(latencyMs),
    ...(fingerprint === null ? {} : { system_fingerprint: fingerprint }),
  };
}

/** Log-probabilities belong to ids one by one: where there are not as many, it is not known to which. */
function tokensOf({ promptTokenIds, tokenIds, logprobs }: Completion): Record<string, unknown> {
  const fields: Record<string, number[]> = {};
  const leftOut: string[] = [];
  const add = (name: string, value: number[] | null, isWhole = true): void => {
    if (value === null) return;
    if (value.length <= idsAtMost && isWhole) fields[name] = value;
    else leftOut.push(name);
  };
  add("prompt_token_ids", promptTokenIds);
  add("token_ids", tokenIds);
  add("logprobs", logprobs, tokenIds === null || logprobs?.length === tokenIds.length);
  return { ...fields, ...(leftOut.length === 0 ? {} : { left_out: leftOut }) };
}
