/** One row an episode: a chat with tool calls, for supervised fine-tuning. */
import { factColumns, factsOf } from "../facts.js";
import { conversationOf, messageColumn, toolsOf } from "../messages.js";
import type { ExportFormat } from "./format.js";

export const chatRows: ExportFormat = {
  columns: { messages: messageColumn, tools: "json", source: "text", ...factColumns },
  rows: (episode) => {
    if (episode.steps.length === 0) return "no_steps";
    const conversation = conversationOf(episode);
    if (conversation === null) return "no_parent";
    const { messages, source } = conversation;
    return [{ messages, tools: toolsOf(episode), source, ...factsOf(episode) }];
  },
};
