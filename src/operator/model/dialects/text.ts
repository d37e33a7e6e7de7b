/** Calls as fenced JSON in the reply's text, for models and servers without tool calls. */
import { z } from "zod";
import type { ToolDescription } from "../../../env/aci/index.js";
import type { Call, ChatMessage, Exchange } from "../conversation.js";
import type { Dialect } from "./dialect.js";

/** A block ends at the next line of three backticks: JSON holds no line break within a text, so none can stand in one. */
const block = /^[ \t]*```json[ \t]*\r?\n([\s\S]*?)(?:^[ \t]*```[ \t]*\r?$|(?![\s\S]))/gm;

const callSchema = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) });

export const textDialect: Dialect = {
  name: "text",
  explain,
  offer: () => [],
  calls: ({ content }, prefix) =>
    [...content.matchAll(block)].map((match, at) => callOf(match[1] ?? "", `${prefix}_${at}`)),
  answers: (calls, results) => [
    calls.length === 0
      ? results.join("\n\n")
      : results
          .map((result, at) => `Result of call ${at + 1} (${calls[at]?.name ?? ""}):\n${result}`)
          .join("\n\n"),
  ],
  assistant: ({ content }) => ({ role: "assistant", content }),
  messages: ({ content, answers }) => [
    { role: "assistant", content },
    { role: "user", content: answers.join("\n\n") },
  ],
  read,
};

function explain(tools: readonly ToolDescription[]): string {
  const described = tools.map(
    ({ name, description, input_schema: schema }) =>
      `- \`${name}\`: ${description}\n  Arguments: ${JSON.stringify(schema)}`,
  );
  return [
    "You call a tool by writing a block like this one, with its fences on lines of their own:",
    '```json\n{"name": "NAME OF THE TOOL", "arguments": {"NAME": "VALUE"}}\n```',
    "Each such block is one call. Its content is JSON: line breaks in texts are written as \\n. All tools, with the JSON Schemas of their arguments:",
    described.join("\n"),
  ].join("\n\n");
}

/** What is no call at all keeps its text, under no name: it is told what is wrong with it like any other. */
function callOf(text: string, id: string): Call {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { id, name: "", arguments: text };
  }
  const parsed = callSchema.safeParse(value);
  if (!parsed.success) return { id, name: "", arguments: text };
  return { id, name: parsed.data.name, arguments: JSON.stringify(parsed.data.arguments) };
}

function read(messages: readonly ChatMessage[]): Exchange[] | null {
  const exchanges: Exchange[] = [];
  for (let at = 0; at < messages.length; at += 2) {
    const [reply, told] = [messages[at], messages[at + 1]];
    if (reply?.role !== "assistant" || told?.role !== "user") return null;
    const content = reply.content ?? "";
    const calls = textDialect.calls({ content, calls: [] }, `past_${at / 2}`);
    exchanges.push({ content, calls, answers: [told.content] });
  }
  return exchanges;
}
