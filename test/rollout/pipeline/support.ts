/** A client without a server, for faults that no real machine can be brought to: sessions that answer late, wrongly, or never. */
import { EchoEnvironment } from "../../../src/env/index.js";
import type { StepResult } from "../../../src/env/environment.js";
import { ShinkenError } from "../../../src/errors/index.js";
import { oracleOperator } from "../../../src/operator/index.js";
import { makeTask } from "../../../src/env/task/index.js";
import type { EpisodeJob, RolloutClient, RolloutSession } from "../../../src/rollout/index.js";
import type { Verdict } from "../../../src/verifiers/verdict.js";
import { document } from "../../env/session-support.js";

export const task = makeTask(document);
export const variant = task.variant();

/** What a session does otherwise than well. */
export interface Behaviour {
  create?: () => Promise<void>;
  reset?: () => Promise<void>;
  step?: (number: number) => Promise<Partial<StepResult> | undefined>;
  evaluate?: () => Promise<Partial<Verdict> | undefined>;
  close?: () => Promise<void>;
  cancel?: () => void;
}

export const never = (): Promise<never> => new Promise(() => undefined);
export const died = new ShinkenError("machine_died", "kernel panic");
export const dies = (): Promise<never> => Promise.reject(died);

export class FakeClient implements RolloutClient {
  created = 0;
  open = 0;
  openPeak = 0;
  /** Forks of sessions. */
  forks = 0;
  readonly log: string[] = [];
  private readonly behaviour: (index: number) => Behaviour;

  /** `behaviour`: of the session that was made as the so-manieth, from 0 on; forks count as well. */
  constructor(behaviour: (index: number) => Behaviour = () => ({})) {
    this.behaviour = behaviour;
  }

  async create(): Promise<RolloutSession> {
    return this.session(0);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private async session(done: number): Promise<RolloutSession> {
    const index = this.created++;
    const behaviour = this.behaviour(index);
    await behaviour.create?.();
    this.open += 1;
    this.openPeak = Math.max(this.openPeak, this.open);
    return this.environment(index, behaviour, done);
  }

  private environment(index: number, behaviour: Behaviour, done: number): RolloutSession {
    const environment = new EchoEnvironment();
    let steps = done;
    let closed = false;
    const said = (what: string) => this.log.push(`${index} ${what}`);
    return Object.assign(environment, {
      reset: async () => {
        said("reset");
        await behaviour.reset?.();
        return { observation: { results: [] }, info: { ready_ms: 1 } };
      },
      step: async (): Promise<StepResult> => {
        steps += 1;
        said(`step ${steps}`);
        const given = await behaviour.step?.(steps);
        const usual = { reward: 0, terminated: false, truncated: false, info: {} };
        return { observation: { results: [] }, ...usual, ...given };
      },
      evaluate: async (): Promise<Verdict> => {
        said("evaluate");
        const given = await behaviour.evaluate?.();
        const usual = { status: "graded", score: 1, passed: true } as const;
        return {
          task: task.id,
          taskVersion: task.version,
          verifierVersion: "v",
          checks: [],
          ...usual,
          ...given,
        };
      },
      observe: () => Promise.resolve({ instruction: "Do it.", results: [] }),
      fork: () => {
        this.forks += 1;
        return this.session(steps);
      },
      cancel: () => {
        said("cancel");
        behaviour.cancel?.();
      },
      close: async () => {
        said("close");
        if (!closed) this.open -= 1;
        closed = true;
        await behaviour.close?.();
      },
    });
  }
}

export function job(replica = 0, more: Partial<EpisodeJob> = {}): EpisodeJob {
  return { variant, operator: oracleOperator, replica, seed: replica, ...more };
}
