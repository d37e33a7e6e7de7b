import { availableParallelism } from "node:os";
import type { TaskVariant } from "../../env/task/index.js";
import { ShinkenError } from "../../errors/index.js";
import type { RolloutClient } from "../episode.js";
import type { BreakerOptions } from "./breaker.js";

/** Slots of each pool. */
export interface PoolSizes {
  init: number;
  run: number;
  verify: number;
}

/** Active seconds of each phase. */
export interface Budgets {
  setup: number;
  agent: number;
  grader: number;
}

export interface PipelineOptions {
  client: RolloutClient;
  /** `defaultPools` for what is unsaid. */
  pools?: Partial<PoolSizes> | undefined;
  /** Sessions that are open at a time, those between two stages among them; the sum of the pools if unsaid. */
  machines?: number | undefined;
  /** What is unsaid comes from the task's own wall-clock limits (`budgetsOf`). */
  budgets?: Partial<Budgets> | undefined;
  /** Attempts after the first, for failures of the harness in INIT and RUN; 1 if unsaid. */
  retries?: number | undefined;
  /** Evaluations after the first where grading itself failed; 1 if unsaid. */
  regrades?: number | undefined;
  /** Seconds for an answer to a cancel or a close, before a session is left behind; 10 if unsaid. */
  graceSeconds?: number | undefined;
  breaker?: BreakerOptions | undefined;
}

export const defaultRetries = 1;
export const defaultRegrades = 1;
export const defaultGraceSeconds = 10;

/** Slack above the limits that the server keeps itself: this net is for a server that does not answer. */
const slackSeconds = 60;

/** Four episodes at play; half as many machines are made, and as many are graded, at a time. More than there are cores only makes each slower. */
export function defaultPools(run: number = Math.min(4, Math.max(2, availableParallelism()))): PoolSizes {
  const half = Math.max(1, Math.ceil(run / 2));
  return { init: half, run, verify: half };
}

export function poolSizes(asked: Partial<PoolSizes> = {}): PoolSizes {
  const sizes = { ...defaultPools(asked.run), ...asked };
  for (const [name, size] of Object.entries(sizes)) {
    if (!Number.isInteger(size) || size < 1)
      throw new ShinkenError("bad_request", `pools.${name}: must be an integer of at least 1`, {
        path: `pools.${name}`,
      });
  }
  return sizes;
}

/** Of a task: its own wall-clock limits, those that the server keeps itself with some slack. */
export function budgetsOf({ task: { limits } }: TaskVariant, asked: Partial<Budgets> = {}): Budgets {
  return {
    setup: limits.setup.wall_seconds + slackSeconds,
    agent: limits.agent.wall_seconds,
    grader: limits.verify.wall_seconds + slackSeconds,
    ...asked,
  };
}
