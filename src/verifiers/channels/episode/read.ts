/** What the agent said and how it ended: for answers, never for the path by which a state was reached. */
import { splitLines } from "../../assertions/text.js";
import { parseJson } from "../../parse/json.js";
import { parseNumber } from "../../parse/text.js";
import type { Answer } from "../../value.js";
import type { EpisodeFacts, ReadChannel } from "../channel.js";
import type { EpisodeQuery } from "./query.js";

export const readEpisode: ReadChannel<EpisodeQuery> = (query, context) =>
  // A fault must reject, not throw, like that of every other channel.
  Promise.resolve().then(() => answer(query.kind, context.episode));

function answer(kind: EpisodeQuery["kind"], episode: EpisodeFacts): Answer {
  switch (kind) {
    case "end":
      return { type: "text", value: episode.end };
    case "steps":
      return { type: "number", value: episode.steps };
    case "actions":
      return { type: "list", value: episode.actions.map((action) => action.type) };
    case "reason":
      return episode.reason === null
        ? { absent: "no reason was given" }
        : { type: "text", value: episode.reason };
  }
  if (episode.answer === null) return { absent: "no answer was given" };
  switch (kind) {
    case "answer":
      return { type: "text", value: episode.answer };
    case "answer_lines":
      return { type: "list", value: splitLines(episode.answer) };
    case "answer_number":
      return { type: "number", value: parseNumber(episode.answer, "the answer") };
    case "answer_json":
      return { type: "json", value: parseJson(episode.answer, "the answer") };
  }
}
