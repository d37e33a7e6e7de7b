/** Rows for TRL: conversational `prompt` and `completion`, and the keys that its rollout functions return. */
import { factColumns, factsOf } from "../facts.js";
import { messageColumn } from "../messages.js";
import { attemptsOf } from "./attempts.js";
import type { ExportFormat } from "./format.js";

export const trlRows: ExportFormat = {
  columns: {
    prompt: messageColumn,
    completion: messageColumn,
    tools: "json",
    prompt_ids: { list: "int" },
    completion_ids: { list: "int" },
    logprobs: { list: "float" },
    env_mask: { list: "int" },
    reward: "float",
    milestone_reward: "float",
    segment: "int",
    segments: "int",
    ...factColumns,
  },
  rows: (episode) => {
    const attempts = attemptsOf(episode);
    if (typeof attempts === "string") return attempts;
    const facts = factsOf(episode);
    return attempts.map(({ prompt, completion, tools, tokens, reward, milestones, segment, segments }) => ({
      prompt,
      completion,
      tools,
      prompt_ids: tokens?.promptIds ?? null,
      completion_ids: tokens?.completionIds ?? null,
      logprobs: tokens?.logprobs ?? null,
      env_mask: tokens?.mask ?? null,
      reward,
      milestone_reward: milestones,
      segment,
      segments,
      ...facts,
    }));
  },
};
