/** Rows for verl: the columns of its RL data set, and the fields of what its agent loops give back. */
import { type Columns, jsonText } from "../columns.js";
import { factColumns, factsOf } from "../facts.js";
import { messageColumn } from "../messages.js";
import { attemptsOf } from "./attempts.js";
import type { ExportFormat } from "./format.js";

export const verlRows: ExportFormat = {
  columns: {
    data_source: "text",
    prompt: messageColumn,
    ability: "text",
    reward_model: { fields: { style: "text", ground_truth: "json" } },
    extra_info: {
      fields: { index: "int", split: "text", segment: "int", segments: "int", ...factColumns },
    },
    uid: "text",
    response: messageColumn,
    prompt_ids: { list: "int" },
    response_ids: { list: "int" },
    response_mask: { list: "int" },
    response_logprobs: { list: "float" },
    reward_score: "float",
    num_turns: "int",
  } satisfies Columns,
  rows: (episode, first) => {
    const attempts = attemptsOf(episode);
    if (typeof attempts === "string") return attempts;
    const { session } = episode;
    const facts = factsOf(episode);
    const { task, task_version, variant, params, seed } = session;
    return attempts.map(({ prompt, completion, tokens, reward, segment, segments, turns }, at) => ({
      data_source: `shinken-gym/${task}`,
      prompt,
      ability: "agent",
      // No answer is kept beside a machine: whoever grades plays this again.
      reward_model: {
        style: "rule",
        ground_truth: jsonText({ task, task_version, variant, params, seed }),
      },
      extra_info: {
        index: first + at,
        split: session.use === "eval" ? "test" : "train",
        segment,
        segments,
        ...facts,
      },
      uid: facts["group"] ?? session.variant ?? task,
      response: completion,
      prompt_ids: tokens?.promptIds ?? null,
      response_ids: tokens?.completionIds ?? null,
      response_mask: tokens?.mask ?? null,
      response_logprobs: tokens?.logprobs ?? null,
      reward_score: reward,
      num_turns: prompt.length + turns,
    }));
  },
};
