import { z } from "zod";
import { describe } from "../describe.js";

/** What the agent said, and how it ended. */
const episodeQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("answer") }),
  z.strictObject({ kind: z.literal("answer_number") }),
  z.strictObject({ kind: z.literal("answer_json") }),
  z.strictObject({ kind: z.literal("answer_lines") }),
  z.strictObject({ kind: z.literal("end") }),
  z.strictObject({ kind: z.literal("reason") }),
  z.strictObject({ kind: z.literal("steps") }),
  z.strictObject({ kind: z.literal("actions") }),
]);

export type EpisodeQuery = z.output<typeof episodeQuery>;

export const episodeChannel = describe({
  query: episodeQuery,
  results: {
    answer: "text",
    answer_number: "number",
    answer_json: "json",
    answer_lines: "list",
    end: "text",
    reason: "text",
    steps: "number",
    actions: "list",
  },
  version: 1,
  onlyLooks: true,
  machine: false,
});
