/** Episodes as conversations, in the shape of OpenAI's chat messages. */
import { isDeepStrictEqual } from "node:util";
import { agentCapabilities } from "../../env/task/index.js";
import { toolDescriptions } from "../../env/aci/index.js";
import type { ActionResult } from "../../env/environment.js";
import { jsonText, type ColumnType } from "./columns.js";
import type { Episode, EpisodeStep } from "./episode.js";

export interface ToolCall {
  id: string;
  type: "function";
  /** `arguments`: JSON, as models write it. */
  function: { name: string; arguments: string };
}

/** Fields that a role does not have are absent. */
export interface Message {
  role: string;
  content: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  name?: string;
}

export const messageColumn = {
  list: {
    fields: {
      role: "text",
      content: "text",
      tool_calls: {
        list: {
          fields: { id: "text", type: "text", function: { fields: { name: "text", arguments: "json" } } },
        },
      },
      tool_call_id: "text",
      name: "text",
    },
  },
} as const satisfies ColumnType;

export interface Conversation {
  /** `recorded`: what the model itself read and wrote. `derived`: told from actions and results. */
  source: "recorded" | "derived";
  messages: Message[];
  /** By step number, where its assistant's message stands. */
  turns: Map<number, number>;
}

/**
 * The whole conversation of an episode, a branch's from its parent's beginning. It ends with what the assistant did last: nobody read
 * what came of it. Null where the beginning is not there.
 */
export function conversationOf(episode: Episode): Conversation | null {
  if (episode.history === null) return null;
  const steps = [...episode.history.steps, ...episode.steps];
  return recorded(steps) ?? derived(episode.history.start.observation.instruction, steps);
}

/** Every decision tells its messages, and each begins with those before: the last one holds all. */
function recorded(steps: readonly EpisodeStep[]): Conversation | null {
  const turns = new Map<number, number>();
  let before: unknown[] = [];
  let messages: Message[] = [];
  for (const { decision, step } of steps) {
    const input = decision?.input;
    if (!isMessages(input)) return null;
    if (!isDeepStrictEqual(input.slice(0, before.length), before)) return null;
    const answer = messageOf(decision?.output, "assistant");
    if (answer === null) return null;
    messages = [...input.map((message) => messageOf(message, "user") as Message), answer];
    turns.set(step, input.length);
    before = input;
  }
  return messages.length === 0 ? null : { source: "recorded", messages, turns };
}

function derived(instruction: string | undefined, steps: readonly EpisodeStep[]): Conversation {
  const messages: Message[] = [{ role: "user", content: instruction ?? "" }];
  const turns = new Map<number, number>();
  for (const [index, step] of steps.entries()) {
    turns.set(step.step, messages.length);
    messages.push(assistantOf(step));
    if (index === steps.length - 1) break;
    for (const [at, result] of step.observation.observation.results.entries())
      messages.push({
        role: "tool",
        content: (result as unknown as ActionResult).text,
        tool_call_id: callId(step.step, at),
      });
  }
  return { source: "derived", messages, turns };
}

function assistantOf({ step, actions, decision }: EpisodeStep): Message {
  const output = decision?.output;
  const said = typeof output === "string" ? output : isMap(output) ? textOf(output["content"]) : "";
  const calls = actions.map(({ action }, at): ToolCall => {
    const { type, ...fields } = action;
    return {
      id: callId(step, at),
      type: "function",
      function: { name: type, arguments: jsonText(fields) },
    };
  });
  return { role: "assistant", content: said, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

const callId = (step: number, index: number): string => `call_${step}_${index}`;

function isMessages(value: unknown): value is Record<string, unknown>[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => isMap(one) && typeof one["role"] === "string" && isText(one["content"]))
  );
}

/** Interfaces that put calls of tools among the parts of a content do not have the shape that is told here. */
function isText(content: unknown): boolean {
  const parts: unknown[] = Array.isArray(content) ? content : [];
  return !parts.some(isCall);
}

const isCall = (part: unknown): boolean => isMap(part) && /tool|function/.test(String(part["type"]));

/** What a model's interface calls a message, or its plain text; null where it is neither. */
function messageOf(value: unknown, role: string): Message | null {
  if (typeof value === "string") return { role, content: value };
  if (!isMap(value) || !isText(value["content"])) return null;
  const { tool_calls: calls, tool_call_id: id, name } = value;
  const message: Message = {
    role: typeof value["role"] === "string" ? value["role"] : role,
    content: textOf(value["content"]),
  };
  if (Array.isArray(calls) && calls.length > 0) message.tool_calls = calls.flatMap(callOf);
  if (typeof id === "string") message.tool_call_id = id;
  if (typeof name === "string") message.name = name;
  return message;
}

/** Text of a message's content; parts that are no text are named in brackets. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => {
      if (typeof part === "string") return part;
      if (!isMap(part) || isCall(part)) return "";
      return typeof part["text"] === "string"
        ? part["text"]
        : `[${typeof part["type"] === "string" ? part["type"] : "part"}]`;
    })
    .join("");
}

function callOf(value: unknown): ToolCall[] {
  if (!isMap(value) || !isMap(value["function"])) return [];
  const { name, arguments: given } = value["function"];
  if (typeof name !== "string") return [];
  const id = typeof value["id"] === "string" ? value["id"] : "";
  const text = typeof given === "string" ? given : jsonText(given ?? {});
  return [{ id, type: "function", function: { name, arguments: text } }];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The tools that the agent had, as JSON in OpenAI's shape. Bundles that do not tell had all there are. */
export function toolsOf({ session, steps }: Episode): string {
  const told = steps[0]?.decision?.["tools"];
  if (Array.isArray(told)) return jsonText(told);
  const granted = agentCapabilities.filter((one) => session.granted?.includes(one) ?? true);
  return jsonText(
    toolDescriptions(new Set(granted)).map(({ name, description, input_schema: parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    })),
  );
}
