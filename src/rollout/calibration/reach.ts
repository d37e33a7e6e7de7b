/** Reaches labelled end states on machines. */
import { parseActions } from "../../env/aci/index.js";
import { GoldenStore } from "../../env/session/goldens.js";
import { Session } from "../../env/session/session.js";
import { TaskScenario } from "../../env/session/task-scenario.js";
import type { LoadedTask, TaskVariant } from "../../env/task/index.js";
import { ShinkenError } from "../../errors/index.js";
import { nearest } from "../../errors/nearest.js";
import { oracleSteps } from "../../operator/index.js";
import type { SandboxProvider } from "../../sandbox/sandbox.js";
import { canonicalJson } from "../../verifiers/canonical.js";
import type { JudgeModel, Verdict } from "../../verifiers/index.js";
import { withChange } from "../end-state.js";
import type { EndState } from "./corpus.js";

/** A state whose task and parameters are known to be sound. */
export interface PlacedState {
  state: EndState;
  task: LoadedTask;
  variant: TaskVariant;
  /** States of one place begin on one machine. */
  place: string;
}

/** Episodes differ in nothing but what is played. */
const episodeSeed = 7;

/**
 * Finds the task of each state and fills in its parameters. Throws `unknown_task`, `bad_request` or `bad_action`, with the state's
 * file and name, before any machine starts.
 */
export function placeStates(states: readonly EndState[], tasks: readonly LoadedTask[]): PlacedState[] {
  const known = new Map(tasks.map((task) => [task.id, task]));
  return states.map((state) => {
    const task = known.get(state.task);
    if (task === undefined) {
      const meant = nearest(state.task, known.keys());
      throw new ShinkenError("unknown_task", `${state.file}: ${state.id}: there is no task "${state.task}"`, {
        path: state.id,
        suggestion:
          meant === undefined ? "name the folder of its tasks with --tasks" : `did you mean "${meant}"?`,
      });
    }
    try {
      const variant = task.variant({ seed: state.seed, params: state.params });
      if (state.actions.length > 0) parseActions(state.actions, new Set(variant.task.capabilities.agent));
      const place = canonicalJson([task.id, task.digest, variant.digest, state.from, state.actions]);
      return { state, task, variant, place };
    } catch (error) {
      if (!(error instanceof ShinkenError)) throw error;
      const { code, message, path, suggestion } = error;
      throw new ShinkenError(code, `${state.file}: ${state.id}: ${message}`, {
        path,
        suggestion,
        cause: error,
      });
    }
  });
}

/** Plays what comes before the states of a place, and keeps the latest such machine. */
export class StateReacher {
  readonly #goldens: GoldenStore;
  readonly #judge: JudgeModel | undefined;
  #open: { place: string; session: Session } | null = null;

  constructor(provider: SandboxProvider, judge?: JudgeModel) {
    this.#goldens = new GoldenStore(provider);
    this.#judge = judge;
  }

  /**
   * Reaches a state once and grades it with the verifier of each of the tasks, which share its parameters. Rejects where the state
   * cannot be reached.
   */
  async grade(placed: PlacedState, graders: readonly LoadedTask[]): Promise<Verdict[]> {
    const { state, variant } = placed;
    const session = await this.#session(placed);
    const change = { steps: state.steps, episode: state.episode, at: `${state.id}.steps` };
    return withChange(session, variant, change, async (machine, record) => {
      const verdicts: Verdict[] = [];
      for (const task of graders) {
        const scenario = new TaskScenario(task, this.#goldens, this.#judge);
        const { grader } = scenario.start(episodeSeed, variant.params);
        if (grader === null) throw new TypeError("a task has a grader");
        verdicts.push(await grader.evaluate(machine, record));
      }
      return verdicts;
    });
  }

  async close(): Promise<void> {
    await this.#end();
    this.#goldens.close();
  }

  async #session({ place, state, task, variant }: PlacedState): Promise<Session> {
    if (this.#open?.place === place) return this.#open.session;
    await this.#end();
    const session = new Session(new TaskScenario(task, this.#goldens, this.#judge));
    try {
      await session.reset({ seed: episodeSeed, params: variant.params });
      const steps = state.from === "solved" ? oracleSteps(variant) : state.actions.map((action) => [action]);
      for (const actions of steps) {
        const { terminated, truncated } = await session.step(actions);
        if (terminated || truncated) break;
      }
    } catch (error) {
      await session.close();
      throw error;
    }
    this.#open = { place, session };
    return session;
  }

  async #end(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.session.close();
  }
}
