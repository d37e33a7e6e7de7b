/** One function an operation. A synchronous one is answered at once; the others when their promise settles. */
import type { EnvironmentOptions } from "../env/checkpoints.js";
import type { Environment } from "../env/environment.js";
import { ShinkenError } from "../errors/index.js";
import { nearest } from "../errors/nearest.js";
import { type CreateResult, type HelloResult, protocolVersion, toWireVerdict } from "../wire/index.js";
import { PulledEnvironment } from "../rollout/pull/index.js";
import type { Connection } from "./connection.js";
import type { Request, RequestOf } from "./requests.js";
import {
  attachRollout,
  closeRollout,
  nextEpisode,
  openRollout,
  rolloutStats,
  setWeights,
} from "./rollouts/dispatch.js";
import type { ServerContext } from "./server.js";
import type { ServerSession } from "./session.js";

type Result = object;

/** Names that `create` takes as `environment`. */
const environments = ["echo"];

/** Does what a request asks for. Throws or rejects with a `ShinkenError`. */
export function dispatch(connection: Connection, request: Request): Result | Promise<Result> {
  switch (request.op) {
    case "step":
      return step(connection, request);
    case "reset":
      return reset(connection, request);
    case "evaluate":
      return evaluate(connection, request);
    case "observe":
      return held(connection, request.session)
        .observe()
        .then((observation) => ({ observation }));
    case "create":
      return create(connection, request);
    case "fork":
      return fork(connection, request);
    case "cancel":
      return { cancelled: held(connection, request.session).cancel() };
    case "detach":
      return detach(connection, request);
    case "attach":
      return attach(connection, request);
    case "close":
      return close(connection, request);
    case "list":
      return list(connection, request);
    case "hello":
      return { ...hello(connection.context, request) };
    case "rollout.open":
      return openRollout(connection, request, environments);
    case "rollout.attach":
      return attachRollout(connection, request);
    case "rollout.next":
      return nextEpisode(connection, request);
    case "rollout.weights":
      return setWeights(connection, request);
    case "rollout.stats":
      return rolloutStats(connection, request);
    case "rollout.close":
      return closeRollout(connection, request);
  }
}

function held(connection: Connection, name: string): ServerSession {
  return connection.context.sessions.get(name, connection);
}

function hello(context: ServerContext, request: RequestOf<"hello">): HelloResult {
  if (request.protocol !== protocolVersion) {
    throw new ShinkenError("unsupported_version", `this server speaks protocol version ${protocolVersion}`, {
      path: "protocol",
    });
  }
  const { limits } = context;
  return {
    protocol: protocolVersion,
    server: context.serverName,
    environments,
    limits: {
      message_bytes: limits.wire.maxMessageBytes,
      depth: limits.wire.maxDepth,
      map_entries: limits.wire.maxMapEntries,
      array_entries: limits.wire.maxArrayEntries,
      values: limits.wire.maxValues,
      sessions_per_connection: limits.sessionsPerConnection,
      outstanding_requests: limits.outstandingRequests,
      grace_s: limits.graceSeconds,
      idle_s: limits.idleSeconds,
      lifetime_s: limits.lifetimeSeconds,
    },
  };
}

async function create(connection: Connection, request: RequestOf<"create">): Promise<Result> {
  const { context } = connection;
  const { task, image, environment, from } = request;
  const kinds = [task, image, environment, from].filter((kind) => kind !== undefined);
  if (kinds.length !== 1) {
    throw new ShinkenError("bad_request", "create takes exactly one of task, image, environment and from", {
      path: "task",
    });
  }
  const session = await open(connection, request.session, request.grace_s, () =>
    makeEnvironment(context, request),
  );
  if (from === undefined) return { ...created(session) };
  session.continueAt(from.step + 1);
  context.countFork({});
  return begun(session);
}

function makeEnvironment(context: ServerContext, request: RequestOf<"create">): Promise<Environment> {
  const { checkpoints, record, labels, secrets } = request;
  const kept = checkpoints === undefined ? {} : { checkpoints: { budgetMiB: checkpoints.budget_mib } };
  const options: EnvironmentOptions = { ...kept, record, labels, secrets };
  if (request.task !== undefined) return context.factory.create(request.task, options);
  if (request.image !== undefined) return context.factory.createSandbox(request.image, options);
  if (request.from !== undefined) {
    if (context.factory.branch !== undefined) return context.factory.branch(request.from, options);
    const path = "from";
    throw new ShinkenError("bad_request", "from: this server keeps no bundles to branch from", { path });
  }
  const name = request.environment ?? "";
  if (environments.includes(name)) {
    if (checkpoints === undefined) return Promise.resolve(context.makeEcho(options));
    throw new ShinkenError("bad_request", "checkpoints: echo has no machine to keep any of", {
      path: "checkpoints",
    });
  }
  const meant = nearest(name, environments);
  throw new ShinkenError("unknown_environment", `there is no environment '${name}'`, {
    path: "environment",
    suggestion: meant === undefined ? `known: ${environments.join(", ")}` : `did you mean "${meant}"?`,
  });
}

/** Makes a session for this connection; should the connection have gone meanwhile, nobody can ever reach it. */
async function open(
  connection: Connection,
  name: string | undefined,
  grace: number | undefined,
  make: () => Promise<Environment>,
): Promise<ServerSession> {
  const { context } = connection;
  connection.assertRoom();
  connection.pending++;
  try {
    const session = await context.sessions.create(name, grace, connection, make);
    context.metrics.sessionsCreated.inc();
    if (!connection.isOpen) await context.sessions.close(session);
    return session;
  } finally {
    connection.pending--;
  }
}

function created(session: ServerSession): CreateResult {
  return { session: session.name, token: session.token, task: session.environment.task };
}

async function reset(connection: Connection, request: RequestOf<"reset">): Promise<Result> {
  const { sessions } = connection.context;
  sessions.assertOpen();
  const result = await held(connection, request.session).reset(request.seed, request.params);
  connection.context.countReset(result.info);
  return { ...result };
}

function step(connection: Connection, request: RequestOf<"step">): Promise<Result> {
  const { metrics, now } = connection.context;
  const session = held(connection, request.session);
  const isNew = session.describe().next === request.step && !session.busy;
  const started = now();
  const reply = session.step(request.step, request.actions, request.decision);
  if (!isNew) return reply;
  return reply.then((result) => {
    metrics.steps.inc();
    metrics.stepSeconds.observe((now() - started) / 1000);
    return result;
  });
}

async function evaluate(connection: Connection, request: RequestOf<"evaluate">): Promise<Result> {
  const verdict = await held(connection, request.session).evaluate();
  connection.context.metrics.verdict(verdict.status);
  return { verdict: toWireVerdict(verdict) };
}

async function fork(connection: Connection, request: RequestOf<"fork">): Promise<Result> {
  const parent = held(connection, request.session);
  const session = await open(connection, request.as, parent.graceMs / 1000, () =>
    parent.fork(request.at_step),
  );
  session.continueFrom(parent, request.at_step);
  connection.context.countFork({});
  return begun(session);
}

/** A session that goes on from somewhere. */
function begun(session: ServerSession): Result {
  const { state, next } = session.describe();
  return { ...created(session), state, next, ...session.recorded() };
}

function detach(connection: Connection, request: RequestOf<"detach">): Result {
  const session = held(connection, request.session);
  connection.context.sessions.detach(session);
  return { grace_s: session.graceMs / 1000 };
}

function attach(connection: Connection, request: RequestOf<"attach">): Result {
  const { context } = connection;
  connection.assertRoom();
  const session = context.sessions.attach(request.session, request.token, connection);
  const { state, next, task } = session.describe();
  return { session: session.name, task, state, next, ...session.recorded() };
}

async function close(connection: Connection, request: RequestOf<"close">): Promise<Result> {
  const session = held(connection, request.session);
  if (session.environment instanceof PulledEnvironment) await session.environment.finish();
  await connection.context.sessions.close(session);
  return {};
}

function list(connection: Connection, request: RequestOf<"list">): Result | Promise<Result> {
  const { factory } = connection.context;
  if ((request.what === "checkpoints") !== (request.session !== undefined)) {
    throw new ShinkenError("bad_request", "session: list takes one for checkpoints, and only for them", {
      path: "session",
    });
  }
  if (request.session !== undefined) return held(connection, request.session).checkpoints();
  if (request.what === "tasks") return { tasks: factory.tasks() };
  return { sessions: [...connection.held].map((session) => session.describe()) };
}
