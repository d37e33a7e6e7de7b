/** What a client may tell of the model behind a step: what it read and wrote. Recorded, and looked at by nobody else. */
import { z } from "zod";

const tokens = z.array(z.int().min(0));

export const decisionSchema = z.looseObject({
  model: z.string().optional(),
  input: z.unknown().optional().describe("Messages or text that the model read."),
  output: z.unknown().optional(),
  prompt_token_ids: tokens.optional(),
  token_ids: tokens.optional(),
  logprobs: z.array(z.number()).optional().describe("Natural logarithms, one for each of token_ids."),
  usage: z.record(z.string(), z.unknown()).optional(),
});
