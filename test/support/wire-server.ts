/** A server of scripted environments for one test, and a bare socket to talk to it without our client. */
import { type Logger, pino } from "pino";
import WebSocket from "ws";
import { type RunningServer, type ServerOptions, startServer } from "../../src/server/index.js";
import type { Verdict } from "../../src/verifiers/verdict.js";
import {
  type CreateResult,
  decodeMessage,
  type Encoding,
  encodeMessage,
  type HelloLimits,
  type PushedEvent,
  type SessionRow,
  type TaskRow,
  type WireError,
} from "../../src/wire/index.js";
import { ScriptedEnvironment, scriptedFactory } from "./scripted-environment.js";

export const silent: Logger = pino({ level: "silent" });

const servers: RunningServer[] = [];
const peers: Peer[] = [];

/** Starts a server that `stopAll` closes. */
export async function start(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer({
    factory: scriptedFactory,
    makeEcho: () => new ScriptedEnvironment("echo"),
    log: silent,
    ...options,
  });
  servers.push(server);
  return server;
}

/** To be called after each test. */
export async function stopAll(): Promise<void> {
  for (const peer of peers.splice(0)) peer.kill();
  await Promise.all(servers.splice(0).map((server) => server.close()));
}

/**
 * A reply or a pushed event, with the fields that tests look into. Which are there depends on what was asked; a test
 * that guesses wrong fails.
 */
export interface Message {
  id: number | null;
  ok: boolean;
  error: WireError;
  result: Result;
  event?: PushedEvent["event"];
}

interface Result extends CreateResult {
  next: number;
  info: Record<string, unknown>;
  observation: { results: [{ text: string }] };
  verdict: Verdict;
  limits: HelloLimits;
  grace_s: number;
  cancelled: boolean;
  sessions: SessionRow[];
  tasks: TaskRow[];
}

/** A WebSocket that speaks frames. */
export class Peer {
  readonly ws: WebSocket;
  readonly encoding: Encoding;
  readonly received: Message[] = [];
  readonly kinds: boolean[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  private waiting: (() => void)[] = [];
  private lastId = 0;

  private constructor(ws: WebSocket, encoding: Encoding) {
    this.ws = ws;
    this.encoding = encoding;
    ws.on("message", (data, binary) => {
      this.kinds.push(binary);
      const limits = {
        maxMessageBytes: 1e9,
        maxDepth: 64,
        maxMapEntries: 1e6,
        maxArrayEntries: 1e6,
        maxStringBytes: 1e9,
        maxValues: 1e9,
      };
      this.received.push(decodeMessage(data as Buffer, binary ? "msgpack" : "json", limits) as Message);
      this.wake();
    });
    this.closed = new Promise((resolve) => {
      ws.on("close", (code, reason) => {
        resolve({ code, reason: reason.toString() });
        this.wake();
      });
    });
  }

  static async connect(
    server: RunningServer,
    encoding: Encoding = "msgpack",
    headers: Record<string, string> = {},
  ): Promise<Peer> {
    const ws = new WebSocket(server.url, { headers, perMessageDeflate: false });
    const peer = new Peer(ws, encoding);
    peers.push(peer);
    await new Promise<void>((resolve, reject) => {
      ws.on("open", resolve);
      ws.on("error", reject);
    });
    return peer;
  }

  raw(data: string | Uint8Array): void {
    this.ws.send(data);
  }

  /** Sends a request and gives its id back. */
  send(request: Record<string, unknown>, encoding: Encoding = this.encoding): number {
    const id = ++this.lastId;
    const frame = encodeMessage({ id, ...request }, encoding);
    this.ws.send(typeof frame === "string" ? frame : frame.slice());
    return id;
  }

  /** Sends a request and waits for the reply to it. */
  async ask(request: Record<string, unknown>, encoding: Encoding = this.encoding): Promise<Message> {
    return this.reply(this.send(request, encoding));
  }

  reply(id: number | null): Promise<Message> {
    return this.wait((message) => !("event" in message) && message.id === id);
  }

  /** The next message that matches; it is taken out. */
  async wait(matches: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const index = this.received.findIndex(matches);
      const [found] = index < 0 ? [] : this.received.splice(index, 1);
      if (found !== undefined) return found;
      if (this.ws.readyState !== WebSocket.OPEN) throw new Error("the connection is closed");
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  /** Creates and resets a session; gives its name and token. */
  async session(
    fields: Record<string, unknown> = { environment: "echo" },
  ): Promise<{ session: string; token: string }> {
    const created = await this.ask({ op: "create", ...fields });
    if (!created.ok) throw new Error(created.error.message);
    await this.ask({ op: "reset", session: created.result.session });
    return created.result;
  }

  kill(): void {
    this.ws.terminate();
  }

  private wake(): void {
    for (const resume of this.waiting.splice(0)) resume();
  }
}

/** Waits until `holds` does; fails through the test's own time-out. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}
