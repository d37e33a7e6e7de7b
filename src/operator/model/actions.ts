/** What a reply asks for: a step's actions, or what is wrong with it, told to the model. */
import { aciLimits, parseAction, parseActions, type ToolDescription } from "../../env/aci/index.js";
import type { ActionCapability } from "../../env/aci/index.js";
import { ShinkenError } from "../../errors/index.js";
import { nearest } from "../../errors/nearest.js";
import type { Completion } from "./completion.js";
import type { Call } from "./conversation.js";

export type Read =
  | { ok: true; actions: Record<string, unknown>[] }
  /** One answer for each call, or one in all where there are none; and all in a few words. */
  | { ok: false; answers: string[]; fault: string };

const notDone = "Nothing of this reply was done.";

/** Nothing is guessed: a reply is done whole, or not at all. */
export function actionsOf(
  calls: readonly Call[],
  { content, finish, refusal }: Pick<Completion, "content" | "finish" | "refusal">,
  tools: readonly ToolDescription[],
  granted: ReadonlySet<ActionCapability>,
): Read {
  if (finish === "content_filter" || refusal !== null)
    return refused(
      calls,
      "the endpoint stopped the reply",
      `The reply was stopped by a filter of the endpoint. ${notDone} Go on in another way, or call \`fail\`.`,
    );
  if (calls.length === 0) return withoutCalls(content, finish);
  if (calls.length > aciLimits.actionsPerStep)
    return refused(
      calls,
      "too many calls",
      `A reply holds at most ${aciLimits.actionsPerStep} calls. ${notDone}`,
    );
  const read = calls.map((call) => actionOf(call, tools));
  const wrong = read.find((one) => typeof one === "string");
  if (wrong !== undefined) {
    const cut =
      finish === "length" ? " The reply was cut off at its greatest length: write less at a time." : "";
    return {
      ok: false,
      answers: read.map((one) =>
        typeof one === "string"
          ? `Error: ${one}. ${notDone}${cut}`
          : "Not done, since another call of the same reply was wrong.",
      ),
      fault: wrong,
    };
  }
  const actions = read as Record<string, unknown>[];
  try {
    parseActions(actions, granted);
  } catch (error) {
    const why = sayingOf(error);
    return refused(calls, why, `Error: ${why}. ${notDone}`);
  }
  return { ok: true, actions };
}

function withoutCalls(content: string, finish: string | null): Read {
  if (finish === "length")
    return refused(
      [],
      "cut off before a call",
      `The reply was cut off at its greatest length before it called a tool. ${notDone} Write less.`,
    );
  const what = content.trim() === "" ? "The reply was empty." : "The reply called no tool.";
  return refused(
    [],
    content.trim() === "" ? "empty" : "no call of a tool",
    `${what} ${notDone} Call a tool; if the task is done call \`done\`, and if it cannot or should not be done call \`fail\`.`,
  );
}

function refused(calls: readonly Call[], fault: string, answer: string): Read {
  return { ok: false, answers: calls.length === 0 ? [answer] : calls.map(() => answer), fault };
}

/** The action of a call, or what is wrong with it. */
function actionOf(call: Call, tools: readonly ToolDescription[]): Record<string, unknown> | string {
  // The text dialect has no name for what is no call.
  if (call.name === "") return jsonFault(call.arguments) ?? 'a call is {"name": ..., "arguments": {...}}';
  const names = tools.map(({ name }) => name);
  if (!names.includes(call.name)) {
    const meant = nearest(call.name, names);
    return `there is no tool "${call.name.slice(0, 64)}"; ${meant === undefined ? `tools are ${names.join(", ")}` : `did you mean "${meant}"?`}`;
  }
  // A call without arguments is written as an empty text by some models.
  const text = call.arguments.trim() === "" ? "{}" : call.arguments;
  const fault = jsonFault(text);
  if (fault !== undefined) return `the arguments of ${call.name}: ${fault}`;
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `the arguments of ${call.name} are no JSON object`;
  if (Object.hasOwn(value, "type"))
    return `the arguments of ${call.name}: type: there is no field of this name`;
  const action = { type: call.name, ...value };
  try {
    parseAction(action);
  } catch (error) {
    return `the arguments of ${call.name}: ${sayingOf(error)}`;
  }
  return action;
}

function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `not valid JSON (${error instanceof Error ? error.message : String(error)})`;
  }
}

function sayingOf(error: unknown): string {
  if (!(error instanceof ShinkenError)) throw error;
  return error.suggestion === undefined ? error.message : `${error.message}; ${error.suggestion}`;
}
