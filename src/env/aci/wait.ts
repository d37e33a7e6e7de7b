import { z } from "zod";
import { aciLimits } from "./limits.js";
import { defineAction } from "./types.js";

const schema = z.strictObject({
  type: z.literal("wait"),
  seconds: z.number().positive().max(aciLimits.maxWaitS).describe("Seconds of machine time."),
});

/** `wait`: lets guest time pass, so that what runs in the background can get on. */
export const wait = defineAction({
  type: "wait",
  capability: null,
  description: "Let time pass in the machine, for example until a background job has ended.",
  schema,
  run: async (action, context) => {
    const ms = Math.max(1, Math.min(Math.round(action.seconds * 1_000), Math.ceil(context.remainingMs)));
    await context.sandbox.wait(ms);
    return { type: "wait", text: `Waited ${ms / 1_000} s.`, truncated: false };
  },
});
