/** A local server that speaks the OpenAI chat API over real HTTP; what it says is the test's. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Asked {
  model: string;
  messages: { role: string; content: string | null; tool_call_id?: string }[];
  seed: number;
  temperature: number;
  tools?: unknown[];
  response_format: { type: string; json_schema: { schema: { properties: Record<string, unknown> } } };
  authorization: string | undefined;
}

export interface Criterion {
  id: string;
  criterion: string;
  needs_quote: boolean;
}

/** A reply: text of the message, calls of tools, or a status to fail with. */
export type Said =
  | string
  | { tools: { name: string; arguments: string }[] }
  | { status: number }
  | { body: string };

export interface JudgeServer {
  url: string;
  asked: Asked[];
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** Opens a server whose model answers with `say`, which sees the request and how many came before it. */
export async function openJudgeServer(say: (asked: Asked, count: number) => Said): Promise<JudgeServer> {
  const asked: Asked[] = [];
  const server: Server = createServer((request, response) => {
    void bodyOf(request).then((text) => {
      const { authorization } = request.headers;
      if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
        response.writeHead(404).end();
        return;
      }
      const one = { ...(JSON.parse(text) as Asked), authorization };
      const said = say(one, asked.length);
      asked.push(one);
      if (typeof said === "object" && "status" in said) {
        response.writeHead(said.status, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { message: "no", type: "server_error" } }));
        return;
      }
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        typeof said === "object" && "body" in said ? said.body : JSON.stringify(completionOf(said)),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function completionOf(said: string | { tools: { name: string; arguments: string }[] }): unknown {
  const message =
    typeof said === "string"
      ? { role: "assistant", content: said }
      : {
          role: "assistant",
          content: null,
          tool_calls: said.tools.map((call, index) => ({
            id: `call-${index}`,
            type: "function",
            function: call,
          })),
        };
  return {
    id: "one",
    object: "chat.completion",
    created: 0,
    model: "local-judge-1",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  };
}

/** The criteria that a request puts, in its order. */
export function criteriaOf(asked: Asked): Criterion[] {
  const system = asked.messages[0]?.content ?? "";
  return JSON.parse(system.slice(system.indexOf("Criteria:\n") + "Criteria:\n".length)) as Criterion[];
}

/** The evidence that a request shows. */
export function evidenceOf(asked: Asked): { name: string; content: string }[] {
  const user = asked.messages[1]?.content ?? "";
  return JSON.parse(user.slice(user.indexOf("\n") + 1)) as { name: string; content: string }[];
}

/** A well-formed reply. `decide` says whether a criterion is met, and with which words of the evidence. */
export function replyOf(asked: Asked, decide: (criterion: Criterion) => string | boolean): string {
  const criteria = criteriaOf(asked).map((one) => {
    const decided = decide(one);
    return {
      id: one.id,
      reason: "because",
      quote: typeof decided === "string" ? decided : "",
      met: decided !== false,
    };
  });
  return JSON.stringify({ criteria });
}

/** True for the criterion that the grader itself put among the task's. */
export function isControl(criterion: Criterion): boolean {
  return criterion.criterion.startsWith("The evidence contains the identifier ");
}
