/** `checkEnv`: does an environment keep the contract of `Environment`? For our own and for anybody else's. */
import { isDeepStrictEqual } from "node:util";
import { ShinkenError } from "../../errors/index.js";
import type { Verdict } from "../../verifiers/index.js";
import type { Environment, Info, Observation, ResetResult, StepResult } from "../environment.js";
import { plainJsonFault } from "./plain-json.js";
import { verdictFaults } from "./verdict.js";

/** Keys of an info that speak of host time and may differ between equal episodes. */
export const hostTimeKeys: readonly string[] = ["ready_ms", "grading_ms"];

export interface CheckEnvOptions {
  /** Steps to try, none of which ends the episode. */
  steps?: readonly (readonly unknown[])[];
  seed?: number;
}

export interface CheckEnvReport {
  ok: boolean;
  /** Each broken rule in a sentence. */
  problems: string[];
  /** Rules that were tried. */
  rules: number;
}

const defaultSteps = [
  [{ type: "wait", seconds: 1 }],
  [
    { type: "wait", seconds: 2 },
    { type: "wait", seconds: 1 },
  ],
];

/**
 * Tries the rules on environments that `make` makes, and closes all of them. A broken rule becomes a problem in the
 * report; rejects only if `make` does, or if a reset with nothing wrong about it fails.
 */
export async function checkEnv(
  make: () => Promise<Environment>,
  options: CheckEnvOptions = {},
): Promise<CheckEnvReport> {
  const check = new EnvCheck(make, options);
  try {
    await check.all();
  } finally {
    await check.closeAll();
  }
  return { ok: check.problems.length === 0, problems: check.problems, rules: check.rules };
}

class EnvCheck {
  readonly problems: string[] = [];
  rules = 0;
  readonly #make: () => Promise<Environment>;
  readonly #steps: readonly (readonly unknown[])[];
  readonly #seed: number;
  readonly #made: Environment[] = [];

  constructor(make: () => Promise<Environment>, options: CheckEnvOptions) {
    this.#make = make;
    this.#steps = options.steps ?? defaultSteps;
    this.#seed = options.seed ?? 123;
  }

  async closeAll(): Promise<void> {
    for (const environment of this.#made) await environment.close();
  }

  async all(): Promise<void> {
    await this.#stage("before a reset", () => this.#beforeReset());
    await this.#stage("at a reset that is to be refused", () => this.#badSeeds());
    await this.#stage("in equal episodes", async () => this.#sameAgain(await this.#trace(await this.#new())));
    const environment = await this.#new();
    await this.#stage("while an episode runs", () => this.#whileRunning(environment));
    await this.#stage("on a branch", () => this.#branching(environment));
    await this.#stage("at the end", () => this.#ending(environment));
    await this.#stage("at the close", () => this.#closing(environment));
  }

  /** What is refused although nothing is wrong with it is a problem, and ends only this stage. */
  async #stage(when: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof Unusable) throw error.cause;
      const { code, message } =
        error instanceof ShinkenError ? error : { code: "an error", message: String(error) };
      this.#rule(false, `${when} a proper request ends with ${code}: ${message}`);
    }
  }

  async #new(): Promise<Environment> {
    const environment = await orUnusable(this.#make());
    this.#made.push(environment);
    return environment;
  }

  /** A reset with nothing wrong about it. */
  #reset(environment: Environment, seed?: number): Promise<ResetResult> {
    return orUnusable(environment.reset(seed === undefined ? {} : { seed }));
  }

  #rule(holds: boolean, problem: string): void {
    this.rules += 1;
    if (!holds && !this.problems.includes(problem)) this.problems.push(problem);
  }

  async #rejects(code: string, what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.#rule(false, `${what} is accepted; it should be refused with ${code}`);
    } catch (error) {
      const given = error instanceof ShinkenError ? error.code : String(error);
      this.#rule(given === code, `${what} is refused with ${given} instead of ${code}`);
    }
  }

  async #beforeReset(): Promise<void> {
    const environment = await this.#new();
    this.#rule(typeof environment.task === "string" && environment.task !== "", "task is not a name");
    await this.#rejects("not_reset", "step before reset", () => environment.step(this.#steps[0] ?? []));
    await this.#rejects("not_reset", "evaluate before reset", () => environment.evaluate());
    await this.#rejects("not_reset", "observe before reset", () => environment.observe());
    await this.#rejects("not_reset", "fork before reset", () => environment.fork());
  }

  async #badSeeds(): Promise<void> {
    const environment = await this.#new();
    for (const seed of [-1, 0.5, 2 ** 53]) {
      await this.#rejects("bad_request", `the seed ${seed}`, () => environment.reset({ seed }));
    }
    await this.#rejects("bad_request", "an unknown parameter", () =>
      environment.reset({ params: { no_such_parameter: 1 } }),
    );
  }

  /** One seeded episode: everything that must come out equal another time. */
  async #trace(environment: Environment): Promise<unknown[]> {
    const { observation, info } = await this.#reset(environment, this.#seed);
    this.#observation(observation, "reset");
    this.#info(info, "reset");
    this.#rule(observation.results.length === 0, "the observation of a reset holds results");
    const trace: unknown[] = [observation, withoutHostTime(info)];
    for (const actions of this.#steps) {
      const result = await environment.step(actions);
      this.#stepResult(result, actions.length);
      trace.push(
        result.observation,
        result.reward,
        result.terminated,
        result.truncated,
        withoutHostTime(result.info),
      );
    }
    return structuredClone(trace);
  }

  async #sameAgain(first: unknown[]): Promise<void> {
    const environment = await this.#new();
    this.#rule(
      isDeepStrictEqual(await this.#trace(environment), first),
      "another environment gives another episode for the same seed",
    );
    this.#rule(
      isDeepStrictEqual(await this.#trace(environment), first),
      "a second reset gives another episode for the same seed",
    );
    const { observation, info } = await this.#reset(environment, this.#seed);
    observation.results.push({ type: "spoilt", text: "", truncated: false });
    info["spoilt"] = true;
    const again = await this.#reset(environment, this.#seed);
    this.#rule(
      !("spoilt" in again.info) && again.observation.results.length === 0,
      "two resets hand out the same object",
    );
    await environment.close();
  }

  async #whileRunning(environment: Environment): Promise<void> {
    await this.#reset(environment, this.#seed);
    await this.#rejects("bad_action", "a step without actions", () => environment.step([]));
    await this.#rejects("bad_action", "an action without a type", () => environment.step([{}]));
    await this.#rejects("bad_action", "an action that is no map", () => environment.step(["done"]));
    const before = await environment.observe();
    this.#observation(before, "observe");
    this.#rule(isDeepStrictEqual(await environment.observe(), before), "observing changes what is observed");
    const verdict = await environment.evaluate();
    for (const fault of verdictFaults(verdict)) this.#rule(false, fault);
    const again = await environment.evaluate();
    this.#rule(
      isDeepStrictEqual(withoutTimes(again), withoutTimes(verdict)),
      "grading the same state twice gives two verdicts",
    );
    this.#stepResult(await environment.step(this.#steps[0] ?? []), this.#steps[0]?.length ?? 0);
  }

  /** Of an environment that tells of checkpoints: the way back to a step. */
  async #goingBack(environment: Environment, { info }: StepResult): Promise<void> {
    const step = info["step"] as number;
    if (info["checkpoint"] === undefined) return;
    const then = await environment.observe();
    this.#stepResult(await environment.step(this.#steps[0] ?? []), this.#steps[0]?.length ?? 0);
    const now = await environment.observe();
    const past = await environment.fork({ atStep: step });
    this.#made.push(past);
    this.#rule(
      isDeepStrictEqual(await past.observe(), then),
      "a branch of a former step begins with another observation",
    );
    const { info: its } = await past.step(this.#steps[0] ?? []);
    this.#rule(its["step"] === step + 1, "a branch of a former step does not go on from its number");
    this.#rule(
      isDeepStrictEqual(await environment.observe(), now),
      "a branch of a former step changes what its parent observes",
    );
    await past.close();
    await this.#rejects("checkpoint_missing", "a fork at a step that was not done", () =>
      environment.fork({ atStep: step + 2 }),
    );
  }

  async #branching(environment: Environment): Promise<void> {
    const branch = await environment.fork();
    this.#made.push(branch);
    this.#rule(branch.task === environment.task, "a branch has another task");
    this.#rule(
      isDeepStrictEqual(await branch.observe(), await environment.observe()),
      "a branch begins with another observation",
    );
    const before = await environment.observe();
    await branch.step([{ type: "done" }]);
    this.#rule(
      isDeepStrictEqual(await environment.observe(), before),
      "a step of a branch changes what its parent observes",
    );
    await branch.close();
    const step = await environment.step(this.#steps[0] ?? []);
    this.#stepResult(step, this.#steps[0]?.length ?? 0);
    await this.#goingBack(environment, step);
  }

  async #ending(environment: Environment): Promise<void> {
    const result = await environment.step([{ type: "done" }]);
    this.#stepResult(result, 1);
    this.#rule(result.terminated, "done does not terminate the episode");
    await this.#rejects("episode_over", "a step after the end", () => environment.step([{ type: "done" }]));
    for (const fault of verdictFaults(await environment.evaluate())) this.#rule(false, fault);
    const { observation } = await this.#reset(environment);
    this.#observation(observation, "reset");
    this.#stepResult(await environment.step(this.#steps[0] ?? []), this.#steps[0]?.length ?? 0);
  }

  async #closing(environment: Environment): Promise<void> {
    await environment.close();
    await environment.close();
    let refused = false;
    await environment.reset().catch(() => {
      refused = true;
    });
    this.#rule(refused, "a closed environment can be reset");
  }

  #observation(observation: Observation, where: string): void {
    this.#rule(Array.isArray(observation.results), `${where}: the observation has no list of results`);
    const fault = plainJsonFault(observation);
    this.#rule(fault === null, `${where}: the observation is not plain JSON: ${fault}`);
    for (const result of observation.results) {
      const fits =
        typeof result.type === "string" &&
        typeof result.text === "string" &&
        typeof result.truncated === "boolean";
      this.#rule(fits, `${where}: a result lacks type, text or truncated`);
    }
  }

  #info(info: Info, where: string): void {
    const fault = plainJsonFault(info);
    this.#rule(fault === null, `${where}: the info is not plain JSON: ${fault}`);
  }

  #stepResult(result: StepResult, actions: number): void {
    this.#observation(result.observation, "step");
    this.#info(result.info, "step");
    this.#rule(result.observation.results.length <= actions, "step: there are more results than actions");
    this.#rule(
      typeof result.reward === "number" && Number.isFinite(result.reward),
      "step: the reward is not a finite number",
    );
    this.#rule(typeof result.terminated === "boolean", "step: terminated is not a boolean");
    this.#rule(typeof result.truncated === "boolean", "step: truncated is not a boolean");
  }
}

/** Without this there is nothing to check. */
class Unusable extends Error {}

function orUnusable<T>(work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => {
    throw new Unusable("the environment cannot be used", { cause });
  });
}

function withoutHostTime(info: Info): Info {
  return Object.fromEntries(Object.entries(info).filter(([key]) => !hostTimeKeys.includes(key)));
}

function withoutTimes(verdict: Verdict): unknown {
  return { ...verdict, checks: verdict.checks.map((check) => ({ ...check, ms: 0 })) };
}
