/** The conversation of an episode that goes on from a recorded step. */
import { z } from "zod";
import type { PastStep } from "../operator.js";
import { type Call, type ChatMessage, type Conversation, readOpening } from "./conversation.js";
import type { Dialect } from "./dialects/index.js";
import { scaffoldVersion } from "./scaffold.js";

const wireCall = z.looseObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
const message = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content: z.string() }),
  z.looseObject({ role: z.literal("user"), content: z.string() }),
  z.looseObject({
    role: z.literal("assistant"),
    content: z.string().nullable(),
    tool_calls: z.array(wireCall).optional(),
  }),
  z.looseObject({ role: z.literal("tool"), content: z.string(), tool_call_id: z.string() }),
]);

const decisionSchema = z.looseObject({
  scaffold: z.literal(scaffoldVersion),
  input: z.array(message).min(2),
  output: message,
});

export interface Resumed {
  conversation: Conversation;
  /** The last step's reply, whose results are still to be told. */
  open: { content: string; calls: readonly Call[] };
}

/**
 * What the model had read and written up to the last step, if that was recorded by this scaffold in this dialect; else null, and the
 * model begins with the instruction in the state that it finds.
 */
export function resumed(past: readonly PastStep[], dialect: Dialect): Resumed | null {
  const last = past.at(-1);
  if (last === undefined || last.decision?.["dialect"] !== dialect.name) return null;
  const parsed = decisionSchema.safeParse(last.decision);
  if (!parsed.success) return null;
  const [system, opening, ...rest] = parsed.data.input as ChatMessage[];
  const output = parsed.data.output as ChatMessage;
  if (system?.role !== "system" || opening?.role !== "user" || output.role !== "assistant") return null;
  const exchanges = dialect.read(rest);
  if (exchanges === null) return null;
  const content = output.content ?? "";
  const native = (output.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => ({
    id,
    name,
    arguments: given,
  }));
  const calls = dialect.calls({ content, calls: native }, "past");
  if (calls.length !== last.observation.results.length) return null;
  return {
    conversation: { system: system.content, ...readOpening(opening.content), exchanges },
    open: { content, calls },
  };
}
