/**
 * Client of the native dialect. Many sessions share one connection. When the connection breaks, it connects again
 * within the sessions' grace time, attaches them with their tokens and sends again what can be repeated; a step is
 * never done twice, because its number stays the same.
 */
import { Buffer } from "node:buffer";
import type { BranchSource } from "../env/environment.js";
import { ShinkenError } from "../errors/index.js";
import {
  type AttachResult,
  type BranchResult,
  type CreateResult,
  decodeMessage,
  type Encoding,
  encodeMessage,
  type HelloResult,
  type PushedEvent,
  protocolVersion,
  type Reply,
  type RolloutOpenResult,
  type SessionRow,
  type TaskRow,
  type WireLimits,
} from "../wire/index.js";
import { type Call, Calls, type PendingCall } from "./calls.js";
import { RemoteRollout, type RolloutOptions } from "./rollout.js";
import { RemoteSession } from "./session.js";
import { type ClientSocket, openSocket } from "./socket.js";

export interface ClientOptions {
  /** Bearer token of the server. */
  token?: string | undefined;
  /** Default msgpack. */
  encoding?: Encoding | undefined;
  /** Connect again when the connection breaks; default true. */
  reconnect?: boolean | undefined;
  /** Milliseconds for one attempt to connect; default 10,000. */
  connectTimeoutMs?: number | undefined;
}

/** What `create` takes: exactly one of `task`, `image`, `environment` and `from`. */
export interface CreateOptions {
  task?: string | undefined;
  image?: string | undefined;
  environment?: string | undefined;
  /** A branch of an episode that the server has recorded, from the state after `step`; its next step is the one after. */
  from?: BranchSource | undefined;
  /** Name of the session; the server's choice if unsaid. */
  session?: string | undefined;
  /** Seconds that the session outlives its connection; the server's default and limit if unsaid. */
  graceSeconds?: number | undefined;
  /** Keep the state after reset and after each step, for `fork({ atStep })`; `budgetMiB` as the server's default if unsaid. */
  checkpoints?: { budgetMiB?: number | undefined } | undefined;
  /** False: the server keeps no bundle of its episodes. */
  record?: boolean | undefined;
  /** What its bundles say of the episodes: run, group, replica, operator, model. At most 16. */
  labels?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** Values, and names of environment variables, that bundles must not hold. */
  secrets?: { values?: readonly string[] | undefined; variables?: readonly string[] | undefined } | undefined;
}

/** What a server may send: larger than what it accepts, since observations are. */
const receiveLimits: WireLimits = {
  maxMessageBytes: 64 * 1024 * 1024,
  maxDepth: 64,
  maxMapEntries: 65_536,
  maxArrayEntries: 1_000_000,
  maxStringBytes: 64 * 1024 * 1024,
  maxValues: 4_000_000,
};

const firstRetryMs = 50;
const lastRetryMs = 2000;
const busyRetryMs = 50;

/** Connects and says hello. `url` may lack the `/v1`. */
export async function connect(url: string, options: ClientOptions = {}): Promise<ShinkenClient> {
  const client = new ShinkenClient(url, options);
  await client.open();
  return client;
}

export class ShinkenClient {
  private readonly url: string;
  private readonly options: ClientOptions;
  private readonly encoding: Encoding;
  private readonly calls = new Calls();
  private readonly sessions = new Map<string, RemoteSession>();
  private readonly rollouts = new Map<string, RemoteRollout>();
  private socket: ClientSocket | undefined;
  private framesSent = 0;
  /** Sessions are attached on the present connection, so requests may be sent. */
  private ready = false;
  private recovering = false;
  private closing = false;
  private helloResult: HelloResult | undefined;

  constructor(url: string, options: ClientOptions = {}) {
    this.url = /\/v\d+$/.test(url) ? url : `${url.replace(/\/$/, "")}/v${protocolVersion}`;
    this.options = options;
    this.encoding = options.encoding ?? "msgpack";
  }

  /** What the server said of itself. */
  get server(): HelloResult {
    if (this.helloResult === undefined)
      throw new ShinkenError("connection_lost", "the client is not connected");
    return this.helloResult;
  }

  /** Called by `connect`. */
  async open(): Promise<void> {
    this.socket = await this.openSocket();
    this.ready = true;
    const hello = await this.call({ op: "hello", protocol: protocolVersion, client: "shinken-typescript" });
    this.helloResult = hello as unknown as HelloResult;
  }

  async create(options: CreateOptions): Promise<RemoteSession> {
    const { graceSeconds, checkpoints, ...rest } = options;
    const call: Call = { op: "create", grace_s: graceSeconds, ...rest };
    if (checkpoints !== undefined) call["checkpoints"] = { budget_mib: checkpoints.budgetMiB };
    const result = await this.call(call);
    const session = this.adopt(result as unknown as CreateResult);
    if (options.from !== undefined) session.restore(result as unknown as BranchResult);
    return session;
  }

  /** Takes over a detached session, or one that another connection holds. */
  async attach(name: string, token: string): Promise<RemoteSession> {
    const result = (await this.call({ op: "attach", session: name, token })) as unknown as AttachResult;
    const session = this.adopt({ session: result.session, token, task: result.task });
    session.restore(result);
    return session;
  }

  /**
   * Episodes to pull, forked and reset already: `for await (const episode of client.rollout({ tasks: "all" }))`. Opened by the first pull;
   * `close` ends it.
   */
  rollout(options: RolloutOptions): RemoteRollout {
    const { graceSeconds, checkpoints, stragglers, ...rest } = options;
    const late =
      stragglers === undefined
        ? undefined
        : { policy: stragglers.policy, quorum: stragglers.quorum, after_s: stragglers.afterSeconds };
    const call: Call = { op: "rollout.open", grace_s: graceSeconds, stragglers: late, ...rest };
    if (checkpoints !== undefined) call["checkpoints"] = { budget_mib: checkpoints.budgetMiB };
    return new RemoteRollout(this, async () => (await this.call(call)) as unknown as RolloutOpenResult, true);
  }

  /** Pulls from a rollout that another connection has opened; with `events` all that it tells is told here, too. */
  async joinRollout(
    name: string,
    token: string,
    options: { events?: boolean | undefined } = {},
  ): Promise<RemoteRollout> {
    const { events = false } = options;
    const attach: Call = { op: "rollout.attach", rollout: name, token, events };
    const join = async () => ({ ...((await this.call(attach)) as unknown as RolloutOpenResult), token });
    return new RemoteRollout(this, join, events).open();
  }

  /** Steps many sessions at once; outcomes in the same order, a failed one as its error. */
  stepAll(
    steps: readonly { session: RemoteSession; actions: readonly unknown[] }[],
  ): Promise<PromiseSettledResult<Awaited<ReturnType<RemoteSession["step"]>>>[]> {
    return Promise.allSettled(steps.map(({ session, actions }) => session.step(actions)));
  }

  async tasks(): Promise<TaskRow[]> {
    return (await this.call({ op: "list", what: "tasks" }))["tasks"] as TaskRow[];
  }

  /** Sessions that this connection holds. */
  async list(): Promise<SessionRow[]> {
    return (await this.call({ op: "list", what: "sessions" }))["sessions"] as SessionRow[];
  }

  /** Closes the connection; sessions that are still open live on for their grace time. */
  close(): Promise<void> {
    this.closing = true;
    this.calls.failAll(new ShinkenError("connection_lost", "the client was closed"));
    this.socket?.close();
    this.socket = undefined;
    return Promise.resolve();
  }

  /** Sends a request, or keeps it until the connection is there again; for sessions and tests. */
  call(call: Call): Promise<Record<string, unknown>> {
    return this.request(call, this.ready);
  }

  adopt(created: CreateResult): RemoteSession {
    const session = new RemoteSession(this, created);
    this.track(session);
    return session;
  }

  track(session: RemoteSession): void {
    this.sessions.set(session.name, session);
  }

  trackRollout(rollout: RemoteRollout): void {
    this.rollouts.set(rollout.name, rollout);
  }

  forgetRollout(rollout: RemoteRollout): void {
    if (this.rollouts.get(rollout.name) === rollout) this.rollouts.delete(rollout.name);
  }

  /** The connection is gone for good. */
  get gone(): boolean {
    return this.closing;
  }

  forget(session: RemoteSession): void {
    if (this.sessions.get(session.name) === session) this.sessions.delete(session.name);
  }

  /** Breaks the connection as a fault of the network would; for tests. */
  breakConnection(): void {
    this.socket?.terminate();
  }

  private callNow(call: Call): Promise<Record<string, unknown>> {
    return this.request(call, true);
  }

  private request(call: Call, sendNow: boolean): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      if (this.closing) {
        reject(new ShinkenError("connection_lost", "the client was closed"));
        return;
      }
      const entry = this.calls.add(call, resolve, reject);
      if (sendNow) this.send(entry);
    });
  }

  private send(entry: PendingCall): void {
    try {
      const message = encodeMessage({ id: entry.id, ...entry.call }, this.encoding);
      this.assertSize(message);
      entry.frame = ++this.framesSent;
      this.socket?.send(message);
    } catch (cause) {
      if (cause instanceof ShinkenError && cause.code === "too_large") this.calls.fail(entry, cause);
      else {
        const message = cause instanceof Error ? cause.message : String(cause);
        this.calls.fail(
          entry,
          new ShinkenError("bad_request", `the request cannot be encoded: ${message}`, { cause }),
        );
      }
    }
  }

  /** Far above its limit the server's transport cuts the connection; sending again would only cut the next one. */
  private assertSize(message: string | Uint8Array): void {
    const limit = this.helloResult?.limits.message_bytes;
    const bytes = typeof message === "string" ? Buffer.byteLength(message) : message.length;
    if (limit !== undefined && bytes > limit) {
      throw new ShinkenError("too_large", `the request has ${bytes} bytes; the server's limit is ${limit}`);
    }
  }

  private openSocket(): Promise<ClientSocket> {
    this.framesSent = 0;
    return openSocket(
      this.url,
      {
        token: this.options.token,
        timeoutMs: this.options.connectTimeoutMs ?? 10_000,
        maxMessageBytes: receiveLimits.maxMessageBytes,
      },
      {
        onMessage: (bytes, encoding) => {
          this.received(bytes, encoding);
        },
        onClose: (code, reason) => {
          this.lost(code, reason);
        },
      },
    );
  }

  private received(bytes: Uint8Array, encoding: Encoding): void {
    const message = decodeMessage(bytes, encoding, receiveLimits);
    if (typeof message !== "object" || message === null) return;
    if ("event" in message) {
      const event = message as PushedEvent;
      if ("rollout" in event) {
        this.rollouts.get(event.rollout)?.deliver(event);
        return;
      }
      const session = this.sessions.get(event.session);
      session?.deliver(event);
      if (session !== undefined && (event.event === "closed" || event.event === "detached"))
        this.forget(session);
      return;
    }
    const again = this.calls.settle(message as Reply);
    if (again === undefined) return;
    setTimeout(() => {
      if (this.calls.has(again) && this.ready) this.send(again);
    }, busyRetryMs);
  }

  private lost(code: number, reason: string): void {
    this.socket = undefined;
    this.ready = false;
    const error = new ShinkenError("connection_lost", `the connection closed: ${code} ${reason}`.trimEnd());
    if (this.closing || this.options.reconnect === false) {
      this.giveUp(error);
      return;
    }
    this.calls.afterLoss(error);
    if (this.recovering) return;
    this.recovering = true;
    this.recover(error)
      .catch((cause: unknown) => {
        this.giveUp(cause instanceof ShinkenError ? cause : error);
      })
      .finally(() => {
        this.recovering = false;
      });
  }

  private giveUp(error: ShinkenError): void {
    this.closing = true;
    this.calls.failAll(error);
  }

  /** Connects, attaches every session, and only then sends what waits; begins again if that breaks too. */
  private async recover(error: ShinkenError): Promise<void> {
    const deadline = performance.now() + (this.helloResult?.limits.grace_s ?? 10) * 1000;
    while (!this.closing) {
      this.socket = await this.reopen(error, deadline);
      try {
        await Promise.all([
          ...[...this.sessions.values()].map((session) => this.reattach(session)),
          ...[...this.rollouts.values()].map((rollout) => this.rejoin(rollout)),
        ]);
      } catch (cause) {
        if (cause instanceof ShinkenError && cause.code === "connection_lost" && performance.now() < deadline)
          continue;
        throw cause;
      }
      this.ready = true;
      for (const entry of this.calls.all()) this.send(entry);
      return;
    }
  }

  /** The server may have forgotten a session; its requests then fail one by one with `unknown_session`. */
  private async reattach(session: RemoteSession): Promise<void> {
    try {
      await this.callNow({ op: "attach", session: session.name, token: session.token });
    } catch (error) {
      if (!(error instanceof ShinkenError) || error.code !== "unknown_session") throw error;
      this.forget(session);
    }
  }

  /** As `reattach`. */
  private async rejoin(rollout: RemoteRollout): Promise<void> {
    try {
      await this.callNow(rollout.attachCall());
    } catch (error) {
      if (!(error instanceof ShinkenError) || error.code !== "unknown_rollout") throw error;
      this.forgetRollout(rollout);
    }
  }

  private async reopen(error: ShinkenError, deadline: number): Promise<ClientSocket> {
    for (let wait = firstRetryMs; !this.closing; wait = Math.min(wait * 2, lastRetryMs)) {
      try {
        return await this.openSocket();
      } catch (cause) {
        if (cause instanceof ShinkenError && !cause.retry) throw cause;
        if (performance.now() + wait > deadline) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
    throw error;
  }
}
