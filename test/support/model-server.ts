/** A local server that speaks the OpenAI chat API over real HTTP, streaming off; what it says, and how it fails, is the test's. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface AskedCall {
  id: string;
  type: string;
  function: { name: string; arguments: string };
}

export interface AskedMessage {
  role: string;
  content: string | null;
  tool_calls?: AskedCall[];
  tool_call_id?: string;
}

export interface Asked {
  model: string;
  messages: AskedMessage[];
  tools?: {
    type: string;
    function: { name: string; description: string; parameters: Record<string, unknown> };
  }[];
  temperature?: number;
  top_p?: number;
  seed?: number;
  max_tokens?: number;
  max_completion_tokens?: number;
  logprobs?: boolean;
  return_token_ids?: boolean;
  authorization: string | undefined;
}

export interface Completed {
  content?: string | null;
  reasoning_content?: string;
  calls?: { id?: string; name: string; arguments: string }[];
  finish?: string;
  /** Null: the server counts nothing. */
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
  promptIds?: number[];
  ids?: number[];
  logprobs?: number[];
}

/** A reply, or a fault: a status, a body as it is, a connection that breaks, an answer that never comes. */
export type Said =
  | Completed
  | { status: number; headers?: Record<string, string>; error?: Record<string, unknown> }
  | { body: string }
  | { drop: "before" | "within" }
  | { never: true };

export interface ModelServer {
  url: string;
  asked: Asked[];
  /** Requests whose connection was closed before they were answered. */
  aborted: number;
  close(): Promise<void>;
}

/** A call of a tool. */
export const call = (name: string, fields: Record<string, unknown> = {}): Completed => ({
  calls: [{ name, arguments: JSON.stringify(fields) }],
});

/** Opens a server whose model answers with `say`, which sees the request and how many came before it. */
export async function openModelServer(say: (asked: Asked, count: number) => Said): Promise<ModelServer> {
  const model: ModelServer = { url: "", asked: [], aborted: 0, close: () => Promise.resolve() };
  const server = createServer((request, response) => {
    void bodyOf(request).then((text) => {
      if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
        response.writeHead(404).end();
        return;
      }
      const one = { ...(JSON.parse(text) as Asked), authorization: request.headers.authorization };
      const said = say(one, model.asked.length);
      model.asked.push(one);
      response.on("close", () => {
        if (!response.writableFinished) model.aborted += 1;
      });
      answer(request, response, said, one.model);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  model.close = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => {
        resolve();
      });
    });
  return model;
}

function answer(request: IncomingMessage, response: ServerResponse, said: Said, model: string): void {
  const json = { "content-type": "application/json" };
  if ("never" in said) return;
  if ("drop" in said) {
    if (said.drop === "within") {
      response.writeHead(200, { ...json, "content-length": "1000" });
      response.write('{"id": "one", "choi');
    }
    setImmediate(() => request.socket.destroy());
    return;
  }
  if ("status" in said) {
    response.writeHead(said.status, { ...json, ...said.headers });
    response.end(JSON.stringify({ error: { message: "no", type: "server_error", ...said.error } }));
    return;
  }
  response.writeHead(200, json);
  response.end("body" in said ? said.body : JSON.stringify(completionOf(said, model)));
}

function completionOf(said: Completed, model: string): unknown {
  const { content, reasoning_content, calls = [], finish, usage, promptIds, ids, logprobs } = said;
  const message = {
    role: "assistant",
    content: content ?? null,
    ...(reasoning_content === undefined ? {} : { reasoning_content }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, arguments: given }, at) => ({
            id: id ?? `call-${at}`,
            type: "function",
            function: { name, arguments: given },
          })),
        }),
  };
  const counts = usage === undefined ? { prompt_tokens: 100, completion_tokens: 10 } : usage;
  return {
    id: "one",
    object: "chat.completion",
    created: 0,
    model: `${model}-2026`,
    system_fingerprint: "fp_1",
    choices: [
      {
        index: 0,
        message,
        finish_reason: finish ?? (calls.length === 0 ? "stop" : "tool_calls"),
        ...(logprobs === undefined
          ? {}
          : {
              logprobs: {
                content: logprobs.map((logprob) => ({ token: "x", logprob, bytes: null, top_logprobs: [] })),
              },
            }),
        ...(ids === undefined ? {} : { token_ids: ids }),
      },
    ],
    ...(promptIds === undefined ? {} : { prompt_token_ids: promptIds }),
    ...(counts === null
      ? {}
      : { usage: { ...counts, total_tokens: counts.prompt_tokens + counts.completion_tokens } }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
