import { z } from "zod";
import { aciLimits } from "./limits.js";
import { defineAction } from "./types.js";

const schema = z.strictObject({
  type: z.literal("fail"),
  reason: z
    .string()
    .min(1)
    .max(aciLimits.reasonChars)
    .describe("Why it cannot or should not be done, or what would have to be asked first."),
});

/** `fail`: the agent says that the task cannot be done, should not be done, or needs an answer from its owner. */
export const fail = defineAction({
  type: "fail",
  capability: null,
  description:
    "End the task because it cannot or should not be done, or because its owner must be asked first.",
  schema,
  ends: true,
  run: () => Promise.resolve({ type: "fail", text: "The task was ended as failed.", truncated: false }),
});
