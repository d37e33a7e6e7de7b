/** Puts the server together: socket, sessions, metrics, drain. */
import type { Logger } from "pino";
import type { EnvironmentOptions } from "../env/checkpoints.js";
import type { Environment, EnvironmentFactory } from "../env/environment.js";
import type { ErrorCode } from "../errors/index.js";
import { closeCodes, protocolVersion } from "../wire/index.js";
import { assertAddressAllowed, bearerMatches, originAllowed } from "./auth.js";
import { Connection } from "./connection.js";
import { type LimitOverrides, resolveLimits, type ServerLimits } from "./limits.js";
import { Metrics, type MetricsSource } from "./metrics.js";
import { Rollouts } from "./rollouts/rollouts.js";
import { Sessions } from "./sessions.js";
import { type HttpReply, type HttpRequest, type Listener, listen } from "./uws.js";

export interface ServerOptions {
  factory: EnvironmentFactory;
  /** A new `echo` environment: no machine, answers at once; for load tests. */
  makeEcho: (options: EnvironmentOptions) => Environment;
  log: Logger;
  /** Default 127.0.0.1. Any address that others can reach needs a token. */
  host?: string | undefined;
  /** Default 0: any free port. */
  port?: number | undefined;
  /** Bearer token that every upgrade must carry. */
  token?: string | undefined;
  /** Values of `Origin` that are let in; none by default, so no web page is. */
  origins?: readonly string[] | undefined;
  limits?: LimitOverrides | undefined;
  /** Name and version, told by `hello`. */
  serverName?: string | undefined;
  /** Open machines, for the metrics. */
  machines?: (() => number) | undefined;
  /** Memory of the machines and goldens, for the metrics. */
  guestMemory?: MetricsSource["guestMemory"];
  /** The threads that run machines, for the metrics. */
  engine?: MetricsSource["engine"];
  /** Forks refused for want of memory, for the metrics. */
  refusedForks?: MetricsSource["refusedForks"];
  killedForks?: MetricsSource["killedForks"];
  /** What became of bundles, for the metrics. */
  recorder?: MetricsSource["recorder"];
  /** Tokens of sessions; by default 144 bits from the host's generator. Tests make them predictable. */
  newToken?: (() => string) | undefined;
}

/** What connections and operations share. */
export interface ServerContext {
  readonly factory: EnvironmentFactory;
  readonly makeEcho: (options: EnvironmentOptions) => Environment;
  readonly limits: ServerLimits;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly sessions: Sessions;
  readonly rollouts: Rollouts;
  readonly connections: Set<Connection>;
  /** Counts an episode that was started, and its fork. */
  countReset(info: Record<string, unknown>): void;
  /** Sessions say in `info.ready_ms` how long their fork took, where there was one. */
  countFork(info: Record<string, unknown>): void;
  readonly serverName: string;
  readonly now: () => number;
}

export interface RunningServer {
  /** Address for clients, e.g. `ws://127.0.0.1:8080/v1`. */
  readonly url: string;
  readonly port: number;
  counts(): { sessions: number; connections: number };
  /**
   * Takes no new connections, sessions or episodes; leaves when no session is open, or after `seconds`, whichever comes
   * first. Resolves when every environment has been closed.
   */
  drain(seconds: number): Promise<void>;
  /** As `drain(0)`. Idempotent. */
  close(): Promise<void>;
}

/** How often sessions are looked at for their end. */
const reapEveryMs = 250;

/** Transport limits lie above ours: ours answer with a code, the transport's kill the socket without a word. */
const payloadFactor = 4;
const transportBufferFactor = 4;

/** Starts a server; rejects with `unauthorized`, `bad_request` (limits) or `host_unsupported`. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const host = options.host ?? "127.0.0.1";
  assertAddressAllowed(host, options.token);
  const limits = resolveLimits(options.limits);
  const context = makeContext(options, limits);

  const listener = await listen({
    host,
    port: options.port ?? 0,
    path: `/v${protocolVersion}`,
    maxPayloadBytes: limits.wire.maxMessageBytes * payloadFactor,
    maxBufferedBytes: limits.sendQueueBytes * transportBufferFactor,
    admit: (request) => admit(request, options, context),
    open: (socket) => {
      const connection = new Connection(context, socket);
      context.connections.add(connection);
      return connection;
    },
    get: (request) => serveGet(request, options, context),
  });
  const reaper = setInterval(() => {
    context.sessions.reap();
    context.rollouts.tick();
  }, reapEveryMs);
  reaper.unref();

  const shownHost = host.includes(":") ? `[${host}]` : host;
  return running(context, listener, reaper, `ws://${shownHost}:${listener.port}/v${protocolVersion}`);
}

function makeContext(options: ServerOptions, limits: ServerLimits): ServerContext {
  const connections = new Set<Connection>();
  const now = () => performance.now();
  const rollouts = new Rollouts({ limit: limits.rollouts, idleMs: limits.idleSeconds * 1000, now });
  const sessions: Sessions = new Sessions({
    limits,
    makeRoom: () => rollouts.makeRoom(),
    now,
    newToken: options.newToken,
    onEvent: (event) => {
      if (event.event === "infra") metrics.infraFailure(event.code as ErrorCode);
    },
    onExpired: () => {
      metrics.sessionsExpired.inc();
    },
    onCloseError: (session, error) => {
      options.log.error({ err: error, session }, "closing a session failed");
    },
  });
  const metrics = new Metrics({
    sessions: () => sessions.size,
    detachedSessions: () => sessions.detached,
    connections: () => connections.size,
    outstandingRequests: () => [...connections].reduce((sum, connection) => sum + connection.outstanding, 0),
    machines: options.machines,
    guestMemory: options.guestMemory,
    engine: options.engine,
    refusedForks: options.refusedForks,
    killedForks: options.killedForks,
    recorder: options.recorder,
    rollouts: {
      open: () => rollouts.size,
      warm: () => rollouts.total(({ warm }) => warm),
      preparing: () => rollouts.total(({ preparing }) => preparing),
      playing: () => rollouts.total(({ playing }) => playing),
      waiting: () => rollouts.total(({ waiting }) => waiting),
    },
  });
  const countFork = (info: Record<string, unknown>) => {
    metrics.forks.inc();
    const ready = info["ready_ms"];
    if (typeof ready === "number" && ready >= 0) metrics.forkReady.observe(ready / 1000);
  };
  return {
    factory: options.factory,
    makeEcho: options.makeEcho,
    limits,
    log: options.log,
    metrics,
    sessions,
    rollouts,
    connections,
    countFork,
    countReset: (info) => {
      metrics.resets.inc();
      countFork(info);
    },
    serverName: options.serverName ?? "shinken-gym",
    now,
  };
}

function admit(request: HttpRequest, options: ServerOptions, context: ServerContext): HttpReply | undefined {
  if (!bearerMatches(request.header("authorization"), options.token))
    return refusal("401 Unauthorized", "unauthorized");
  if (!originAllowed(request.header("origin"), options.origins ?? []))
    return refusal("403 Forbidden", "unauthorized");
  if (context.sessions.draining) return refusal("503 Service Unavailable", "server_draining");
  if (context.connections.size >= context.limits.connections) {
    return refusal("503 Service Unavailable", "too_many_sessions");
  }
  return undefined;
}

function refusal(status: string, code: ErrorCode): HttpReply {
  return { status, type: "application/json", body: `${JSON.stringify({ error: { code } })}\n` };
}

async function serveGet(
  request: HttpRequest,
  options: ServerOptions,
  context: ServerContext,
): Promise<HttpReply> {
  const authorized = bearerMatches(request.header("authorization"), options.token);
  switch (request.path) {
    case "/health": {
      const status = context.sessions.draining ? "draining" : "ok";
      return {
        status: status === "ok" ? "200 OK" : "503 Service Unavailable",
        type: "application/json",
        body: `${JSON.stringify({ status, protocol: protocolVersion, sessions: context.sessions.size })}\n`,
      };
    }
    case "/metrics":
      if (!authorized) return refusal("401 Unauthorized", "unauthorized");
      return { status: "200 OK", type: context.metrics.contentType, body: await context.metrics.text() };
    default:
      return {
        status: "404 Not Found",
        type: "text/plain",
        body: "see /health, /metrics and the WebSocket at /v1\n",
      };
  }
}

function running(
  context: ServerContext,
  listener: Listener,
  reaper: NodeJS.Timeout,
  url: string,
): RunningServer {
  let drained: Promise<void> | undefined;
  let deadline = Number.POSITIVE_INFINITY;
  const drain = (seconds: number): Promise<void> => {
    deadline = Math.min(deadline, context.now() + seconds * 1000);
    drained ??= (async () => {
      context.sessions.draining = true;
      context.rollouts.drain();
      listener.stop();
      while (context.sessions.size > 0 && context.now() < deadline) await delay(20);
      clearInterval(reaper);
      const closed = [context.rollouts, context.sessions].map((all) =>
        all.closeAll("server_draining", "the server is shutting down"),
      );
      await Promise.all(closed);
      for (const connection of [...context.connections])
        connection.end(closeCodes.going_away, "server_draining");
      listener.close();
    })();
    return drained;
  };
  return {
    url,
    port: listener.port,
    counts: () => ({ sessions: context.sessions.size, connections: context.connections.size }),
    drain,
    close: () => drain(0),
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
