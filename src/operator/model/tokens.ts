/** Our own estimate of tokens, for trimming, and for accounts where an endpoint tells none. */
import type { ChatMessage } from "./conversation.js";
import type { OfferedTool } from "./dialects/index.js";

/** Tokenizers of today take three to four bytes of English, code or JSON for a token; the estimate shall rather be too high. */
const bytesPerToken = 3;
/** What a chat template puts around a message, and around a call of a tool. */
const perMessage = 8;
const perCall = 16;

export function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

export function tokensOfMessage(message: ChatMessage): number {
  let sum = perMessage + tokensOfText(message.content ?? "");
  if (message.role === "tool") sum += tokensOfText(message.tool_call_id);
  if (message.role === "assistant")
    for (const { id, function: called } of message.tool_calls ?? [])
      sum += perCall + tokensOfText(id) + tokensOfText(called.name) + tokensOfText(called.arguments);
  return sum;
}

export function tokensOfMessages(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + tokensOfMessage(message), 0);
}

export function tokensOfTools(tools: readonly OfferedTool[]): number {
  return tools.reduce((sum, tool) => sum + perCall + tokensOfText(JSON.stringify(tool)), 0);
}
