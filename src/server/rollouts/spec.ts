/** From what a trainer asks for to what a rollout is: names looked up, defaults filled in, measuring kept apart from training. */
import { randomInt } from "node:crypto";
import type { EnvironmentFactory } from "../../env/environment.js";
import { ShinkenError } from "../../errors/index.js";
import { nearest } from "../../errors/nearest.js";
import { defaultQuorum, type RolloutSpec, rolloutDefaults } from "../../rollout/pull/index.js";
import type { RequestOf } from "../requests.js";

/** Seeds that nobody chose have as many bits as those that the rollout draws. */
const seedRange = 2 ** 48 - 1;

export interface RolloutSource {
  kind: "task" | "environment";
  spec: RolloutSpec;
  /** Tasks for measuring that "all" did not mean. */
  leftOut: string[];
}

/** Throws `bad_request`, `unknown_task`, `unknown_environment` or `eval_only` with the path of the fault. */
export function resolveRollout(
  request: RequestOf<"rollout.open">,
  factory: EnvironmentFactory,
  environments: readonly string[],
): RolloutSource {
  const { kind, tasks, leftOut } = sourceOf(request, factory, environments);
  for (const field of ["weights", "priorities", "quotas"] as const) {
    for (const task of Object.keys(request[field] ?? {})) {
      if (!tasks.includes(task)) throw unknownTask(`${field}.${task}`, task, tasks);
    }
  }
  const { group = rolloutDefaults.group, warm = {}, stragglers } = request;
  const max = warm.max ?? Math.max(rolloutDefaults.warmMax, warm.min ?? 0);
  const min = warm.min ?? rolloutDefaults.warmMin;
  if (min > max) {
    const path = "warm.min";
    throw new ShinkenError("bad_request", `warm.min: ${min} is more than warm.max, ${max}`, { path });
  }
  const quorum = stragglers?.quorum ?? defaultQuorum(group);
  if (quorum > group) {
    const path = "stragglers.quorum";
    throw new ShinkenError("bad_request", `${path}: ${quorum} of a group of ${group}`, { path });
  }
  const spec: RolloutSpec = {
    tasks,
    group,
    seed: request.seed ?? randomInt(seedRange),
    seeds: request.seeds ?? [],
    weights: request.weights ?? {},
    priorities: request.priorities ?? {},
    quotas: request.quotas ?? {},
    groups: request.groups ?? null,
    warm: { min, max },
    stragglers: {
      policy: stragglers?.policy ?? "wait",
      quorum,
      afterMs: (stragglers?.after_s ?? rolloutDefaults.stragglerSeconds) * 1000,
    },
    attempts: request.attempts ?? rolloutDefaults.attempts,
    gradable: kind === "task",
  };
  return { kind, spec, leftOut };
}

function sourceOf(
  request: RequestOf<"rollout.open">,
  factory: EnvironmentFactory,
  environments: readonly string[],
): { kind: RolloutSource["kind"]; tasks: string[]; leftOut: string[] } {
  const { tasks, environment } = request;
  if ((tasks === undefined) === (environment === undefined)) {
    throw new ShinkenError("bad_request", "rollout.open takes exactly one of tasks and environment", {
      path: "tasks",
    });
  }
  if (environment !== undefined) {
    if (environments.includes(environment)) return { kind: "environment", tasks: [environment], leftOut: [] };
    const meant = nearest(environment, environments);
    throw new ShinkenError("unknown_environment", `there is no environment '${environment}'`, {
      path: "environment",
      suggestion: meant === undefined ? `known: ${environments.join(", ")}` : `did you mean "${meant}"?`,
    });
  }
  const known = factory.tasks();
  const measuring = new Set(known.filter(({ use }) => use === "eval").map(({ id }) => id));
  const training = request.purpose !== "eval";
  if (tasks === "all") {
    const ids = known.map(({ id }) => id);
    const wanted = training ? ids.filter((id) => !measuring.has(id)) : ids;
    if (wanted.length === 0) {
      throw new ShinkenError("unknown_task", "tasks: the server has none to train on", {
        path: "tasks",
        suggestion: ids.length === 0 ? "shinken serve --tasks DIR serves a folder of them" : undefined,
      });
    }
    return { kind: "task", tasks: wanted, leftOut: ids.filter((id) => !wanted.includes(id)) };
  }
  const seen = new Set<string>();
  for (const [index, task] of (tasks ?? []).entries()) {
    const path = `tasks[${index}]`;
    if (!known.some(({ id }) => id === task)) {
      throw unknownTask(
        path,
        task,
        known.map(({ id }) => id),
      );
    }
    if (seen.has(task)) throw new ShinkenError("bad_request", `${path}: '${task}' stands twice`, { path });
    seen.add(task);
    if (training && measuring.has(task)) {
      throw new ShinkenError("eval_only", `${path}: '${task}' is for measuring only`, {
        path,
        suggestion: 'a rollout that measures says purpose: "eval"',
      });
    }
  }
  return { kind: "task", tasks: [...seen], leftOut: [] };
}

function unknownTask(path: string, task: string, known: readonly string[]): ShinkenError {
  const meant = nearest(task, known);
  return new ShinkenError("unknown_task", `${path}: there is no task '${task}' here`, {
    path,
    suggestion: meant === undefined ? undefined : `did you mean "${meant}"?`,
  });
}
