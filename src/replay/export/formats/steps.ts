/** One row a step: what was seen, what was done, what it paid and what the rest of the episode paid. */
import type { BundleEvent } from "../../read/reader.js";
import { type ColumnType, jsonText, type Row, wholeNumber } from "../columns.js";
import { type Episode, type EpisodeStep, observationBefore } from "../episode.js";
import { factColumns, factsOf } from "../facts.js";
import type { ExportFormat } from "./format.js";

const observation = {
  fields: {
    instruction: "text",
    results: {
      list: {
        fields: {
          type: "text",
          text: "text",
          truncated: "bool",
          error: { fields: { code: "text", message: "text" } },
          details: "json",
        },
      },
    },
  },
} as const satisfies ColumnType;

export const stepRows: ExportFormat = {
  columns: {
    ...factColumns,
    step: "int",
    observation,
    actions: { list: { fields: { type: "text", arguments: "json" } } },
    next_observation: observation,
    reward: "float",
    milestones: { list: { fields: { check: "text", reward: "float", partial: "bool" } } },
    return: "float",
    episode_return: "float",
    terminated: "bool",
    truncated: "bool",
    guest_ms: "float",
    state: "text",
    info: "json",
    prompt_ids: { list: "int" },
    completion_ids: { list: "int" },
    logprobs: { list: "float" },
    usage: {
      fields: { prompt_tokens: "int", completion_tokens: "int", total_tokens: "int", details: "json" },
    },
  },
  rows: (episode) => (episode.steps.length === 0 ? "no_steps" : rowsOf(episode)),
};

function* rowsOf(episode: Episode): Generator<Row> {
  const { steps, history } = episode;
  const facts = factsOf(episode);
  // Summed from the end, so that the first step's return is the sum that the episode's is told as.
  const returns = new Array<number>(steps.length);
  let later = 0;
  for (let at = steps.length - 1; at >= 0; at -= 1) returns[at] = later += steps[at]?.reward ?? 0;
  const before = history?.steps.reduce((sum, { reward }) => sum + reward, 0);
  for (const [at, step] of steps.entries())
    yield {
      ...facts,
      ...rowOf(step),
      observation: seen(observationBefore(episode, at)),
      return: returns[at],
      episode_return: before === undefined ? null : before + later,
    };
}

function rowOf(step: EpisodeStep): Row {
  const { decision, observation: after } = step;
  return {
    step: step.step,
    actions: step.actions.map(({ action: { type, ...fields } }) => ({ type, arguments: jsonText(fields) })),
    next_observation: seen(after),
    reward: step.reward,
    milestones: step.milestones,
    terminated: after.terminated,
    truncated: after.truncated,
    guest_ms: after.t_guest,
    state: step.snapshot?.digest ?? null,
    info: jsonText(after.info),
    prompt_ids: decision?.prompt_token_ids ?? null,
    completion_ids: decision?.token_ids ?? null,
    logprobs: decision?.logprobs ?? null,
    usage: usageOf(decision?.usage),
  };
}

function seen(event: BundleEvent<"observation"> | null): Row | null {
  if (event === null) return null;
  const { instruction, results } = event.observation;
  return {
    instruction: instruction ?? null,
    results: results.map(({ type, text, truncated, error, ...details }) => ({
      type: typeof type === "string" ? type : null,
      text: typeof text === "string" ? text : null,
      truncated: typeof truncated === "boolean" ? truncated : null,
      error: errorOf(error),
      details: jsonText(details),
    })),
  };
}

function errorOf(error: unknown): Row | null {
  if (typeof error !== "object" || error === null) return null;
  const { code, message } = error as Record<string, unknown>;
  return {
    code: typeof code === "string" ? code : null,
    message: typeof message === "string" ? message : null,
  };
}

/** Providers have two names for each count; all that they told stays in `details`. */
function usageOf(usage: Record<string, unknown> | undefined): Row | null {
  if (usage === undefined) return null;
  const prompt = wholeNumber(usage["prompt_tokens"]) ?? wholeNumber(usage["input_tokens"]);
  const completion = wholeNumber(usage["completion_tokens"]) ?? wholeNumber(usage["output_tokens"]);
  const sum = prompt === null || completion === null ? null : prompt + completion;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: wholeNumber(usage["total_tokens"]) ?? sum,
    details: jsonText(usage),
  };
}
