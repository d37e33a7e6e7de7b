/** What surrounds a model: the same words for every model and task. */
import { toolDescriptions, type ToolDescription } from "../../env/aci/index.js";
import type { TaskVariant } from "../../env/task/index.js";
import type { Dialect } from "./dialects/index.js";

/** Changes with every change of the words, the tools or the rules; a test holds it to their digest. */
export const scaffoldVersion = "shell-1";

/** Quoted word for word in `docs/operators.md`; a test holds the page to it. */
export const systemPrompt = `You work on a Linux machine, as the user \`agent\`. The next message is a task. Do it with the tools: they act on the machine, and what they return is all that you see of it. Nobody reads along or answers questions; go on by yourself until the task is done.

A reply may call several tools. They are called in order, and you see all results together, so a call that needs the result of another belongs in a later reply.

When the task is done, and you have looked at the outcome, call \`done\`, with the answer if the task asks for one. If the task cannot or should not be done, or its owner must be asked first, call \`fail\` and say why. Either ends the task, and is the last call of its reply.`;

/** The tools that a task grants. */
export function toolsOf(variant: TaskVariant): ToolDescription[] {
  return toolDescriptions(new Set(variant.task.capabilities.agent));
}

/** The system prompt in a dialect. */
export function systemOf(dialect: Dialect, tools: readonly ToolDescription[]): string {
  const explained = dialect.explain(tools);
  return explained === "" ? systemPrompt : `${systemPrompt}\n\n${explained}`;
}
