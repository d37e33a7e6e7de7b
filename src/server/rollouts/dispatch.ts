/** One function an operation of rollouts. */
import type { Environment } from "../../env/environment.js";
import type { EnvironmentOptions } from "../../env/checkpoints.js";
import { ShinkenError } from "../../errors/index.js";
import type { Lease, Waiter } from "../../rollout/pull/index.js";
import type { RolloutNextResult, RolloutOpenResult } from "../../wire/index.js";
import type { Connection } from "../connection.js";
import type { RequestOf } from "../requests.js";
import { ServerRollout } from "./server-rollout.js";
import { resolveRollout } from "./spec.js";

export async function openRollout(
  connection: Connection,
  request: RequestOf<"rollout.open">,
  environments: readonly string[],
): Promise<RolloutOpenResult> {
  const { context } = connection;
  const { factory, limits, sessions, metrics, now } = context;
  const { kind, spec, leftOut } = resolveRollout(request, factory, environments);
  const { checkpoints, record, labels, secrets } = request;
  if (kind === "environment" && checkpoints !== undefined) {
    throw new ShinkenError("bad_request", `checkpoints: ${spec.tasks.join()} has no machine to keep any of`, {
      path: "checkpoints",
    });
  }
  const environmentOptions: EnvironmentOptions = {
    ...(checkpoints === undefined ? {} : { checkpoints: { budgetMiB: checkpoints.budget_mib } }),
    record,
    labels: { ...labels, ...(request.purpose === "eval" ? { purpose: "eval" } : {}) },
    secrets,
  };
  const make = (task: string, options: EnvironmentOptions): Promise<Environment> =>
    kind === "task" ? factory.create(task, options) : Promise.resolve(context.makeEcho(options));
  const rollout = await context.rollouts.open(request.rollout, connection, async (name) => {
    // What lacks its image is refused now, and not at each pull.
    for (const [index, task] of spec.tasks.entries()) await assertThere(make, task, index);
    const made = new ServerRollout({
      name,
      token: sessions.newToken(),
      spec,
      leftOut,
      graceMs: Math.min(request.grace_s ?? limits.graceSeconds, limits.graceSeconds) * 1000,
      now,
      environmentOptions,
      make,
      draw: (task, seed) => (kind === "task" ? factory.params?.(task, seed) : undefined),
      reserve: (asked) => sessions.reserve(asked),
      onReset: (reset) => {
        context.countReset(reset.info);
      },
      onEvent: (event) => {
        metrics.rollouts.event(event);
      },
      onDiscardError: (error) => {
        context.log.error({ err: error, rollout: name }, "closing a machine that waited failed");
      },
    });
    made.holderOf = (session) => sessions.holderOf(session);
    return made;
  });
  if (!connection.isOpen) context.rollouts.leave(connection);
  const { name, token } = rollout;
  return { rollout: name, token, seed: spec.seed, tasks: [...spec.tasks], left_out: leftOut };
}

async function assertThere(
  make: (task: string, options: EnvironmentOptions) => Promise<Environment>,
  task: string,
  index: number,
): Promise<void> {
  try {
    const environment = await make(task, { record: false });
    await environment.close();
  } catch (error) {
    if (!(error instanceof ShinkenError)) throw error;
    const { code, message, suggestion } = error;
    throw new ShinkenError(code, message, { path: `tasks[${index}]`, suggestion, cause: error });
  }
}

export function attachRollout(connection: Connection, request: RequestOf<"rollout.attach">): object {
  const { rollout: name, token, events = false, after } = request;
  if (after !== undefined && !events) {
    throw new ShinkenError("bad_request", "after: only with events", { path: "after" });
  }
  const rollout = connection.context.rollouts.attach(name, token, connection, events);
  if (after !== undefined) rollout.retell(connection, after);
  const { seed, tasks } = rollout.engine.spec;
  return { rollout: rollout.name, seed, tasks: [...tasks], left_out: rollout.leftOut };
}

export async function nextEpisode(
  connection: Connection,
  request: RequestOf<"rollout.next">,
): Promise<RolloutNextResult> {
  const { context } = connection;
  const rollout = context.rollouts.get(request.rollout, connection);
  connection.assertRoom();
  const began = context.now();
  const waiter = rollout.engine.pull();
  connection.pending += 1;
  connection.pulls.set(waiter, rollout);
  const patience = new AbortController();
  const timer =
    request.wait_s === undefined
      ? undefined
      : setTimeout(() => {
          patience.abort();
          rollout.engine.giveUp(waiter);
        }, request.wait_s * 1000);
  try {
    const lease = await waiter.promise;
    if (lease !== null) {
      context.metrics.rollouts.handedOver(lease.warm, (context.now() - began) / 1000);
      return await hand(connection, rollout, lease);
    }
    if (!patience.signal.aborted) return { done: true };
    throw new ShinkenError("no_episode_ready", `no episode became ready within ${request.wait_s} seconds`);
  } finally {
    clearTimeout(timer);
    connection.pending -= 1;
    connection.pulls.delete(waiter);
  }
}

/** Makes the episode a session of the connection's; should that have gone meanwhile, gives it back. */
async function hand(
  connection: Connection,
  rollout: ServerRollout,
  lease: Lease,
): Promise<RolloutNextResult> {
  const { context } = connection;
  const { environment, group, name, reset } = lease;
  const place = rollout.placeOf(lease);
  if (place === undefined || !connection.isOpen || !lease.open) {
    await environment.close();
    place?.release();
    throw new ShinkenError("cancelled", "nobody is there to play the episode; it was given back");
  }
  const session = context.sessions.adopt(place, environment, rollout.graceMs / 1000, connection);
  context.metrics.sessionsCreated.inc();
  lease.session = session.name;
  lease.onRevoked = (error) =>
    session.closed
      ? context.sessions.close(session)
      : context.sessions.end(session, error.code, error.message);
  const { state } = session.describe();
  return {
    ...{ done: false, rollout: rollout.name, ...name },
    ...{ session: session.name, token: session.token, state, next: 1 },
    params: (reset.info["params"] as Record<string, unknown> | undefined) ?? group.params ?? {},
    observation: { ...reset.observation },
    info: reset.info,
    ...session.recorded(),
  };
}

export function setWeights(connection: Connection, request: RequestOf<"rollout.weights">): object {
  const { engine } = connection.context.rollouts.get(request.rollout, connection);
  engine.setWeights(request.weights);
  return { tasks: engine.stats().tasks };
}

export function rolloutStats(connection: Connection, request: RequestOf<"rollout.stats">): object {
  return connection.context.rollouts.get(request.rollout, connection).engine.stats();
}

export async function closeRollout(
  connection: Connection,
  request: RequestOf<"rollout.close">,
): Promise<object> {
  const { rollouts } = connection.context;
  await rollouts.close(rollouts.get(request.rollout, connection));
  return {};
}

/** Pulls of a connection that has gone want nothing any more. */
export function giveUpPulls(pulls: ReadonlyMap<Waiter, ServerRollout>): void {
  for (const [waiter, { engine }] of [...pulls]) engine.giveUp(waiter);
}
