/** One connection: frames in, replies and events out. What goes wrong with one request stays with that request. */
import type { EnvironmentEvent } from "../env/environment.js";
import type { Waiter } from "../rollout/pull/index.js";
import { type ErrorCode, isInfrastructure, ShinkenError } from "../errors/index.js";
import {
  closeCodes,
  decodeMessage,
  type Encoding,
  encodeMessage,
  type PushedEvent,
  type Reply,
  type WireError,
} from "../wire/index.js";
import { dispatch } from "./dispatch.js";
import { Outbox } from "./outbox.js";
import { giveUpPulls } from "./rollouts/dispatch.js";
import type { ServerRollout } from "./rollouts/server-rollout.js";
import { parseRequest, type Request, requestId } from "./requests.js";
import type { ServerContext } from "./server.js";
import type { ServerSession } from "./session.js";
import type { Holder } from "./sessions.js";
import type { Socket, SocketHandler } from "./uws.js";

/** Operations that end or describe work; they are answered even where the limit of outstanding requests is reached. */
const unlimited: ReadonlySet<Request["op"]> = new Set<Request["op"]>([
  "hello",
  "cancel",
  "close",
  "detach",
  "list",
  "rollout.close",
]);

export class Connection implements SocketHandler, Holder {
  readonly context: ServerContext;
  private readonly socket: Socket;
  private readonly outbox: Outbox;
  /** Of the latest request; events are sent in it. */
  private encoding: Encoding = "msgpack";
  /** Messages received. */
  private frames = 0;
  private outstandingCount = 0;
  readonly held = new Set<ServerSession>();
  /** Sessions that are being made for this connection. */
  pending = 0;
  /** Its pulls that wait for an episode. */
  readonly pulls = new Map<Waiter, ServerRollout>();
  private open = true;

  constructor(context: ServerContext, socket: Socket) {
    this.context = context;
    this.socket = socket;
    this.outbox = new Outbox(socket, context.limits.sendQueueBytes, (fault) => {
      const metrics = context.metrics;
      (fault === "dropped" ? metrics.droppedSends : metrics.slowConsumers).inc();
      context.log.warn({ fault }, "connection cannot be written to");
      const reason = fault === "dropped" ? "internal" : fault;
      // Not from within a send: the socket's owner may be in the middle of using it.
      setImmediate(() => {
        this.end(closeCodes[reason], reason);
      });
    });
  }

  get outstanding(): number {
    return this.outstandingCount;
  }

  message(bytes: Uint8Array, binary: boolean): void {
    const encoding: Encoding = binary ? "msgpack" : "json";
    this.encoding = encoding;
    this.frames++;
    let id: number | null = null;
    try {
      const message = decodeMessage(bytes, encoding, this.context.limits.wire);
      id = requestId(message);
      this.start(parseRequest(message), encoding);
    } catch (error) {
      this.refuse(id, encoding, error);
    }
  }

  drain(): void {
    this.outbox.drain();
  }

  closed(): void {
    if (!this.open) return;
    this.open = false;
    this.outbox.close();
    const { sessions, rollouts } = this.context;
    giveUpPulls(this.pulls);
    rollouts.leave(this);
    for (const session of [...this.held]) sessions.detach(session);
    this.context.connections.delete(this);
  }

  /** Closes the connection with a code; its sessions are detached. */
  end(code: number, reason: string): void {
    if (this.open) this.socket.end(code, reason);
  }

  /** Throws `too_many_sessions` where the connection holds as many as it may. */
  assertRoom(): void {
    const limit = this.context.limits.sessionsPerConnection;
    if (this.held.size + this.pending < limit) return;
    throw new ShinkenError("too_many_sessions", `this connection holds ${limit} sessions, as many as it may`);
  }

  get isOpen(): boolean {
    return this.open;
  }

  push(event: PushedEvent): void {
    this.send(event, this.encoding);
  }

  lost(session: ServerSession): void {
    this.push({ event: "detached", session: session.name });
  }

  event(session: ServerSession, event: EnvironmentEvent): void {
    this.push({ ...event, session: session.name });
  }

  ended(session: ServerSession, code: ErrorCode, message: string): void {
    this.push({ event: "closed", session: session.name, code, message });
  }

  private start(request: Request, encoding: Encoding): void {
    const limited = !unlimited.has(request.op);
    const limit = this.context.limits.outstandingRequests;
    if (limited && this.outstandingCount >= limit) {
      throw new ShinkenError(
        "too_many_requests",
        `${limit} requests of this connection are not answered yet`,
      );
    }
    const result = dispatch(this, request);
    if (!(result instanceof Promise)) {
      this.send({ id: request.id, ok: true, result }, encoding);
      return;
    }
    this.outstandingCount++;
    result.then(
      (value) => {
        this.outstandingCount--;
        this.reply({ id: request.id, ok: true, result: value }, encoding);
      },
      (error: unknown) => {
        this.outstandingCount--;
        this.refuse(request.id, encoding, error, request);
      },
    );
  }

  /** A reply that cannot be encoded becomes an error reply. */
  private reply(reply: Reply, encoding: Encoding): void {
    try {
      this.send(reply, encoding);
    } catch (error) {
      this.refuse(reply.id, encoding, error);
    }
  }

  private refuse(id: number | null, encoding: Encoding, error: unknown, request?: Request): void {
    const known = error instanceof ShinkenError ? error : this.unexpected(error);
    this.context.metrics.error(known.code);
    // What waits without need makes room for what is asked for.
    if (known.code === "out_of_memory") this.context.rollouts.relieve();
    const told =
      request !== undefined && "session" in request && request.session !== undefined
        ? this.context.sessions.toldFailure(request.session)
        : undefined;
    if (isInfrastructure(known) && told !== known.code) this.context.metrics.infraFailure(known.code);
    const reply = bounded(known.toJSON());
    this.send(
      id === null ? { id, frame: this.frames, ok: false, error: reply } : { id, ok: false, error: reply },
      encoding,
    );
  }

  private unexpected(error: unknown): ShinkenError {
    this.context.log.error({ err: error }, "unexpected error");
    const what = error instanceof Error ? error.message : String(error);
    return new ShinkenError("internal", `unexpected: ${what.slice(0, 500)}`, { cause: error });
  }

  private send(message: Reply | PushedEvent, encoding: Encoding): void {
    if (!this.open) return;
    this.outbox.send(encodeMessage(message, encoding));
  }
}

/** Characters of an error that a reply repeats: parts of it may be the client's own, of any length. */
const maxErrorText = 2000;

function bounded(error: WireError): WireError {
  const cut = (text: string) =>
    text.length <= maxErrorText ? text : `${text.slice(0, maxErrorText).replace(/[\uD800-\uDBFF]$/, "")}...`;
  return {
    ...error,
    message: cut(error.message),
    ...(error.path === undefined ? {} : { path: cut(error.path) }),
    ...(error.suggestion === undefined ? {} : { suggestion: cut(error.suggestion) }),
  };
}
