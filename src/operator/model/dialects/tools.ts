/** Tool calls of the chat API. */
import type { Call, ChatMessage, Exchange } from "../conversation.js";
import type { Dialect } from "./dialect.js";

export const toolsDialect: Dialect = {
  name: "tools",
  explain: () => "",
  offer: (tools) =>
    tools.map(({ name, description, input_schema: parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    })),
  calls: ({ calls }, prefix) => {
    const taken = new Set<string>();
    return calls.map((call, at) => {
      // Some servers give no ids, or the same one twice: then an answer would belong to two calls.
      const id = call.id === "" || taken.has(call.id) ? `${prefix}_${at}` : call.id;
      taken.add(id);
      return { ...call, id };
    });
  },
  answers: (_, results) => [...results],
  assistant: ({ content, calls }) => assistant(content, calls),
  messages: ({ content, calls, answers }) => [
    assistant(content, calls),
    ...answers.map((answer, at): ChatMessage => {
      const call = calls[at];
      if (call === undefined) return { role: "user", content: answer };
      return { role: "tool", tool_call_id: call.id, content: answer };
    }),
  ],
  read,
};

function assistant(content: string, calls: readonly Call[]): ChatMessage {
  if (calls.length === 0) return { role: "assistant", content };
  return {
    role: "assistant",
    content: content === "" ? null : content,
    tool_calls: calls.map(({ id, name, arguments: given }) => ({
      id,
      type: "function",
      function: { name, arguments: given },
    })),
  };
}

function read(messages: readonly ChatMessage[]): Exchange[] | null {
  const exchanges: Exchange[] = [];
  for (let at = 0; at < messages.length; ) {
    const first = messages[at];
    if (first?.role !== "assistant") return null;
    const calls = (first.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => ({
      id,
      name,
      arguments: given,
    }));
    const told = messages.slice(at + 1, at + 1 + Math.max(1, calls.length));
    const isWhole =
      told.length === Math.max(1, calls.length) &&
      told.every((message, index) => {
        const call = calls[index];
        if (call === undefined) return message.role === "user";
        return message.role === "tool" && message.tool_call_id === call.id;
      });
    if (!isWhole) return null;
    exchanges.push({
      content: first.content ?? "",
      calls,
      answers: told.map(({ content }) => content ?? ""),
    });
    at += 1 + told.length;
  }
  return exchanges;
}
