/** What passes between a code node and the thread in which its module runs. Plain data in both directions. */
import type { MessagePort } from "node:worker_threads";
import type { Json } from "../assertions/schema.js";
import type { EpisodeFacts } from "../channels/channel.js";

export interface CodeJob {
  /** Name of the module whose default export grades. */
  entry: string;
  /** Name to source of every module that may be imported. */
  modules: Record<string, string>;
  params: Record<string, Json>;
  episode: EpisodeFacts;
  memoryMib: number;
  /** Milliseconds since 1970 that its clock shows. */
  nowMs: number;
  /** Start of its random numbers; any 32 bits. */
  seed: number;
  /** Carries `ReadRequest`s to the grader and `ReadReply`s back. */
  port: MessagePort;
}

export interface ReadRequest {
  number: number;
  /** `{channel, query}` as JSON. */
  query: string;
}

/** `ok` is the answer as JSON; `fault` is what the content is to blame for, `refused` what the module is. */
export type ReadReply = { number: number } & ({ ok: string } | { fault: string } | { refused: string });

/** `value` is what the module returned, as JSON. `content`: a read's fault that the module did not catch. */
export type CodeReply = { value: string } | { content: string } | { module: string };
