/**
 * Grades recorded episodes again: each is run again without agent and model, its end state compared with the recorded one, and the
 * verifiers look at that. What cannot be brought back is ungraded, with the reason.
 */
import { GoldenStore } from "../../env/session/goldens.js";
import type { EpisodeRecord } from "../../env/session/episode.js";
import type { Scenario } from "../../env/session/scenario.js";
import { Session } from "../../env/session/session.js";
import { TaskScenario } from "../../env/session/task-scenario.js";
import type { LoadedTask } from "../../env/task/index.js";
import { isInfrastructure, ShinkenError } from "../../errors/index.js";
import { type Bundle, readBundle, type SessionFacts } from "../../replay/index.js";
import type { Sandbox, SandboxProvider } from "../../sandbox/sandbox.js";
import type { JudgeModel } from "../../verifiers/index.js";
import { recordOf, type VerdictRecord } from "../calibration/record.js";
import { mapBounded } from "../pool.js";
import { type Grading, gradingKey } from "../store/index.js";
import { IndexedHashes } from "./indexed-hashes.js";
import { holdsEnd, openEnd } from "./recorded-end.js";
import { rerun } from "./rerun.js";
import { checkMachine } from "./rerun-opener.js";
import { checkEnd } from "./rerun-plan.js";
import { UngradedScenario } from "./ungraded-scenario.js";

export interface RegradeOptions {
  files: readonly string[];
  /** Tasks whose setup the episodes began with. */
  played: readonly LoadedTask[];
  /** Tasks whose verifiers grade; each gives a verdict on the same end state. */
  graders: readonly (readonly LoadedTask[])[];
  provider: SandboxProvider;
  judge?: JudgeModel | undefined;
  /** Episodes at the same time. */
  concurrency: number;
  runtime: string;
  /** Keys of gradings that are there already (`gradingKey`): those are left out. */
  known?: ReadonlySet<string> | undefined;
  /** Run again also what is recorded with the machine in which it ended. */
  rerun?: boolean | undefined;
  /** Episodes that need not be graded. */
  skip?: ((facts: SessionFacts) => boolean) | undefined;
  /** Told as each episode has been graded, or left out. */
  onEpisode?: ((episode: RegradedEpisode, done: number, all: number) => void) | undefined;
}

/** What became of one bundle. */
export interface RegradedEpisode {
  file: string;
  /** Null where the file cannot be read. */
  episode: string | null;
  task: string | null;
  /** One for each grader; empty if all of them were known. */
  lines: Grading[];
  skipped: boolean;
  /** Why the file could not be read. */
  error: ShinkenError | null;
}

/** In the order of the files. Rejects only where no machine can be made at all. */
export async function regrade(options: RegradeOptions): Promise<RegradedEpisode[]> {
  const regrader = new Regrader(options);
  let done = 0;
  try {
    return await mapBounded(options.files, options.concurrency, async (file) => {
      const episode = await regrader.grade(file);
      done += 1;
      options.onEpisode?.(episode, done, options.files.length);
      return episode;
    });
  } finally {
    regrader.close();
  }
}

/** With what no episode can be run again: it ends the work. */
const hopeless: ReadonlySet<string> = new Set(["image_missing", "host_unsupported"]);

/** A verdict that is missing: of which task as it is now, and in which versions. */
interface Wanted {
  task: LoadedTask | null;
  version: string;
  verifier: string;
}

class Regrader {
  readonly #options: RegradeOptions;
  readonly #goldens: GoldenStore;
  readonly #played: ReadonlyMap<string, LoadedTask>;
  readonly #graders: readonly ReadonlyMap<string, LoadedTask>[];
  readonly #hashes = new IndexedHashes();
  readonly #scenarios = new Map<LoadedTask, TaskScenario>();

  constructor(options: RegradeOptions) {
    this.#options = options;
    this.#goldens = new GoldenStore(options.provider);
    this.#played = byId(options.played);
    this.#graders = options.graders.map(byId);
  }

  async grade(file: string): Promise<RegradedEpisode> {
    const nothing = { file, episode: null, task: null, lines: [], skipped: false };
    let bundle: Bundle;
    try {
      bundle = await readBundle(file);
      await this.#hashes.check(bundle);
    } catch (error) {
      if (!(error instanceof ShinkenError)) throw error;
      return { ...nothing, error };
    }
    const { episode, task } = bundle.session;
    const wanted = this.#options.skip?.(bundle.session) === true ? [] : this.#wanted(bundle.session);
    if (wanted.length === 0) return { file, episode, task, lines: [], skipped: true, error: null };
    const { verdicts, by } = await this.#verdicts(bundle, wanted);
    const lines = wanted.map(({ version, verifier }, index) =>
      this.#line(bundle, by, version, verifier, verdicts[index] ?? ungraded("internal: there is no verdict")),
    );
    return { file, episode, task, lines, skipped: false, error: null };
  }

  close(): void {
    this.#goldens.close();
  }

  /** The graders that have not graded this episode yet. */
  #wanted(facts: SessionFacts): Wanted[] {
    return this.#graders.flatMap((tasks) => {
      const task = tasks.get(facts.task) ?? null;
      const { version = "", verifier = "none" } = task === null ? {} : versionsOf(task, facts);
      const key = gradingKey({ episode: facts.episode, verifier, runtime: this.#options.runtime });
      return this.#options.known?.has(key) === true ? [] : [{ task, version, verifier }];
    });
  }

  async #verdicts(
    bundle: Bundle,
    wanted: readonly Wanted[],
  ): Promise<{ verdicts: VerdictRecord[]; by: Grading["by"] }> {
    if (this.#options.rerun !== true && holdsEnd(bundle)) {
      const verdicts = await this.#ofRecorded(bundle, wanted);
      if (verdicts !== null) return { verdicts, by: "state" };
    }
    return { verdicts: await this.#ofRerun(bundle, wanted), by: "rerun" };
  }

  /** Null where the recorded machine cannot be opened: then the episode is run again, which may say why. */
  async #ofRecorded(bundle: Bundle, wanted: readonly Wanted[]): Promise<VerdictRecord[] | null> {
    const { task, params } = bundle.session;
    const played = this.#played.get(task);
    if (played === undefined) return null;
    let machine: Sandbox | null = null;
    try {
      checkMachine(bundle.session, this.#options.provider);
      const opened = await openEnd(bundle, this.#scenario(played).start(0, params));
      machine = opened.machine;
      return await this.#judged(bundle.session, wanted, opened.machine, opened.record);
    } catch (error) {
      if (!(error instanceof ShinkenError) || hopeless.has(error.code)) throw error;
      return null;
    } finally {
      await machine?.close();
    }
  }

  async #judged(
    facts: SessionFacts,
    wanted: readonly Wanted[],
    machine: Sandbox,
    record: EpisodeRecord,
  ): Promise<VerdictRecord[]> {
    const verdicts: VerdictRecord[] = [];
    for (const { task } of wanted) {
      const grader = task === null ? null : this.#scenario(task).start(0, facts.params).grader;
      const verdict = await grader?.evaluate(machine, record);
      verdicts.push(
        verdict === undefined
          ? ungraded(`unknown_task: there is no task "${facts.task}"`)
          : recordOf(verdict),
      );
    }
    return verdicts;
  }

  async #ofRerun(bundle: Bundle, wanted: readonly Wanted[]): Promise<VerdictRecord[]> {
    let session: Session | null = null;
    try {
      checkEnd(bundle);
      const again = await rerun(bundle, { open: (of) => this.#open(of), compare: ["state"] });
      session = again.session;
      if (again.difference !== null) {
        const { step, what, detail } = again.difference;
        throw new ShinkenError(
          "not_repeatable",
          `at step ${step} the ${what} differs from the recorded one: ${detail}${anotherGolden(bundle, session)}`,
        );
      }
      const { machine, record } = session.episode();
      return await this.#judged(bundle.session, wanted, machine, record);
    } catch (error) {
      if (!(error instanceof ShinkenError) || hopeless.has(error.code)) throw error;
      const why = isInfrastructure(error) ? "not reached: " : "";
      return wanted.map(() => ungraded(`${why}${error.code}: ${error.message}`));
    } finally {
      await session?.close();
    }
  }

  #open(facts: SessionFacts): Promise<Session> {
    checkMachine(facts, this.#options.provider);
    const task = this.#played.get(facts.task);
    if (task === undefined)
      throw new ShinkenError("unknown_task", `there is no task "${facts.task}"`, {
        suggestion: "name the folder of the tasks as they were with --tasks",
      });
    const scenario: Scenario = new UngradedScenario(this.#scenario(task));
    return Promise.resolve(new Session(scenario));
  }

  #scenario(task: LoadedTask): TaskScenario {
    const known = this.#scenarios.get(task) ?? new TaskScenario(task, this.#goldens, this.#options.judge);
    this.#scenarios.set(task, known);
    return known;
  }

  #line(
    bundle: Bundle,
    by: Grading["by"],
    version: string,
    verifier: string,
    verdict: VerdictRecord,
  ): Grading {
    const { file, session, end } = bundle;
    return {
      episode: session.episode,
      file,
      sha256: end.sha256,
      task: session.task,
      task_version: version,
      verifier,
      runtime: this.#options.runtime,
      by,
      provenance: "regraded",
      verdict,
    };
  }
}

/** Versions of the task and its verifier as the recorded parameters decide them. */
function versionsOf(task: LoadedTask, facts: SessionFacts): { version: string; verifier: string } {
  const { version } = task;
  try {
    return { version, verifier: task.variant({ seed: 0, params: facts.params }).graph.verifierVersion };
  } catch {
    // Its parameters are others now; grading says so.
    return { version, verifier: "none" };
  }
}

function byId(tasks: readonly LoadedTask[]): ReadonlyMap<string, LoadedTask> {
  return new Map(tasks.map((task) => [task.id, task]));
}

/** What mostly explains a difference. */
function anotherGolden({ session: { golden } }: Bundle, session: Session): string {
  const now = session.provenance().golden;
  if (now === golden) return "";
  return `; the machine begins with golden ${now.slice(0, 12)} now, and ${golden?.slice(0, 12) ?? "none"} was recorded: its image or setup is another`;
}

function ungraded(reason: string): VerdictRecord {
  return { status: "ungraded", score: null, passed: null, reason, checks: [] };
}
