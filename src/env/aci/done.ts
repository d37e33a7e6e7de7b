import { z } from "zod";
import { aciLimits } from "./limits.js";
import { defineAction } from "./types.js";

const schema = z.strictObject({
  type: z.literal("done"),
  answer: z
    .string()
    .max(aciLimits.answerChars)
    .optional()
    .describe("The answer, if the task asks for one; only the answer itself."),
});

/** `done`: the agent says that the task is finished. */
export const done = defineAction({
  type: "done",
  capability: null,
  description: "End the task as finished, with the answer if one was asked for.",
  schema,
  ends: true,
  run: () => Promise.resolve({ type: "done", text: "The task was ended as done.", truncated: false }),
});
