/** How a model is offered tools and calls them. */
import type { ToolDescription } from "../../../env/aci/index.js";
import type { Call, ChatMessage, Exchange } from "../conversation.js";

/** A function that the endpoint's own interface offers. */
export interface OfferedTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** What a model replied, as the endpoint gives it. */
export interface Reply {
  content: string;
  /** Of the endpoint's own interface. */
  calls: readonly Call[];
}

export interface Dialect {
  readonly name: string;
  /** What is added to the system prompt; empty where the request's own fields tell of the tools. */
  explain(tools: readonly ToolDescription[]): string;
  /** What the request offers by the endpoint's own interface. */
  offer(tools: readonly ToolDescription[]): OfferedTool[];
  /** The calls that a reply makes, in order, each with an id of its own within the conversation. */
  calls(reply: Reply, prefix: string): Call[];
  /** What results are told as: `answers` of an exchange. */
  answers(calls: readonly Call[], results: readonly string[]): string[];
  /** A reply as the model is shown it later. */
  assistant(reply: Pick<Exchange, "content" | "calls">): ChatMessage;
  /** A reply and what came of it, as the model is shown both later. */
  messages(exchange: Exchange): ChatMessage[];
  /** Reads exchanges back from such messages; null if they are none. */
  read(messages: readonly ChatMessage[]): Exchange[] | null;
}
