import { isInfrastructure, ShinkenError } from "../../errors/index.js";
import type { Golden, Sandbox } from "../../sandbox/sandbox.js";
import type { Verdict } from "../../verifiers/verdict.js";
import { parseActions } from "../aci/index.js";
import {
  type CheckpointInfo,
  type CheckpointListing,
  checkpointMissing,
  type EnvironmentOptions,
} from "../checkpoints.js";
import type {
  Environment,
  EnvironmentEvent,
  Info,
  Observation,
  ResetResult,
  StepResult,
} from "../environment.js";
import type { ForkOrigin, Provenance, StateMark } from "../provenance.js";
import { withinWall } from "../setup/wall.js";
import { checkpointOptions, keepCheckpoint, listCheckpoints } from "./checkpoint.js";
import { Episode, type EpisodeMark } from "./episode.js";
import { type Cancellation, Exclusive } from "./exclusive.js";
import type { GoldenLease } from "./goldens.js";
import { payMilestones } from "./milestones.js";
import type { Scenario } from "./scenario.js";
import { checkSeed, derivedSeed, forkSeed, randomSeed } from "./seeds.js";
import { type ForkFacts, forkFacts, forkOptions, originOf } from "./origin.js";

/** Forks tried at a reset before it fails: a fork that does not acknowledge is killed and replaced. */
const forkAttempts = 3;

/** Guest milliseconds in which a cancelled command dies. */
const restMs = 10;

/** Where the randomness of the next episode comes from. */
interface SeedState {
  run: number;
  episode: number;
}

/** An environment on a machine. */
export class Session implements Environment {
  readonly task: string;
  readonly #scenario: Scenario;
  readonly #options: EnvironmentOptions;
  readonly #exclusive = new Exclusive();
  readonly #listeners: ((event: EnvironmentEvent) => void)[] = [];
  #seeds: SeedState | null = null;
  #lease: GoldenLease | null = null;
  /** State digest of the golden that the present episode began with; a branch knows its parent's. */
  #golden: Pick<Golden, "digest" | "image"> = { digest: "" };
  #episode: Episode | null = null;
  /** What the present episode's machine died of. */
  #death: ShinkenError | null = null;
  #closing: Promise<void> | null = null;

  constructor(scenario: Scenario, options: EnvironmentOptions = {}) {
    this.task = scenario.id;
    this.#scenario = scenario;
    this.#options = options;
  }

  reset(
    options: {
      seed?: number | undefined;
      params?: Record<string, unknown> | undefined;
      /** Of an episode that is run again: what its machine was forked with, instead of what the seed gives. */
      origin?: ForkOrigin | undefined;
    } = {},
  ): Promise<ResetResult> {
    return this.#run("reset", async (cancellation) => {
      const seeds = this.#nextSeeds(options.seed);
      const start = this.#scenario.start(paramSeed(seeds), options.params);
      // From here on the old episode is gone, whatever comes of the new one.
      this.#seeds = seeds;
      await this.#endEpisode();
      cancellation.check();
      const lease = await start.golden();
      this.#lease?.release();
      this.#lease = lease;
      const { digest, image } = lease.golden;
      this.#golden = { digest, image };
      const baseline = await start.grader?.baseline();
      this.#checkOpen(cancellation);
      const path = seeds === null ? "" : `${this.task}/episode-${seeds.episode}`;
      const given = seeds === null ? undefined : forkSeed(seeds.run, path);
      const facts = forkFacts(given, this.#options.traced === true, options.origin);
      const machine = await this.#fork(lease, facts);
      const episode = new Episode(start, machine, seeds?.run ?? null, path);
      episode.origin = originOf("replica", facts, machine);
      if (baseline !== undefined) episode.begin(baseline);
      const checkpoint = await this.#keepFirst(episode);
      if (this.#closing !== null || cancellation.requested) {
        await machine.close();
        this.#checkOpen(cancellation);
      }
      this.#episode = episode;
      return {
        observation: structuredClone(episode.lastObservation),
        info: { ...this.#resetInfo(episode, machine), ...infoOf(checkpoint) },
      };
    });
  }

  step(actions: readonly unknown[]): Promise<StepResult> {
    return this.#run("step", async (cancellation) => {
      const episode = this.#alive();
      if (episode.over)
        throw new ShinkenError("episode_over", "the episode is over", {
          suggestion: "reset starts a new one",
        });
      const parsed = parseActions(actions, episode.start.granted);
      episode.record.steps += 1;
      const { limits } = episode.start;
      const began = performance.now();
      const seconds = Math.max(0, limits.wallSeconds - episode.wallMs / 1_000);
      // Ends the reading of milestones: by a cancel, or by the wall-clock net.
      const reading = new AbortController();
      cancellation.signal.addEventListener("abort", () => reading.abort(cancellation.signal.reason), {
        once: true,
      });
      try {
        return await withinWall(
          seconds,
          "the agent's steps",
          () =>
            this.#act(episode, parsed, cancellation, reading.signal).catch((error: unknown) =>
              this.#rest(episode, cancellation, error),
            ),
          () => {
            void episode.machine.close();
            reading.abort();
          },
        );
      } catch (error) {
        // The next one has its number: steps are numbered as whoever asks for them counts them.
        episode.record.steps -= 1;
        episode.unend();
        throw this.#orDeath(episode, error, cancellation);
      } finally {
        episode.wallMs += performance.now() - began;
      }
    });
  }

  evaluate(): Promise<Verdict> {
    return this.#run("evaluate", async ({ signal }) => {
      const episode = this.#started();
      const { grader } = episode.start;
      if (grader === null) return nothingToGrade(this.task, this.#scenario.version);
      if (this.#death !== null) return grader.ungraded(`${this.#death.code}: ${this.#death.message}`);
      return grader.evaluate(episode.machine, episode.record, signal);
    });
  }

  observe(): Promise<Observation> {
    return this.#run("observe", () => {
      const episode = this.#alive();
      return Promise.resolve(
        structuredClone({ ...episode.lastObservation, instruction: episode.start.instruction }),
      );
    });
  }

  fork({
    atStep,
    origin,
  }: {
    atStep?: number | undefined;
    origin?: ForkOrigin | undefined;
  } = {}): Promise<Session> {
    return this.#run("fork", async (cancellation) => {
      const episode = this.#alive();
      const mark = atStep === undefined ? episode.mark() : this.#markOf(episode, atStep);
      episode.branches += 1;
      const path = `${episode.path}/branch-${episode.branches}`;
      const seed = episode.seed === null ? undefined : forkSeed(episode.seed, path);
      const facts = forkFacts(seed, this.#options.traced === true, origin);
      // A branch's clock goes on, whether or not it is seeded.
      const { clock: _, ...unclocked } = forkOptions(facts);
      const options = { ...unclocked, checkpoints: checkpointOptions(this.#options) };
      let machine: Sandbox | undefined;
      try {
        machine = await (atStep === undefined
          ? episode.machine.fork("branch", options)
          : episode.machine.forkAt?.(atStep, options));
      } catch (error) {
        throw this.#orDeath(episode, error, cancellation);
      }
      if (machine === undefined) throw checkpointMissing(mark.record.steps, []);
      const branch = new Session(this.#scenario, this.#options);
      branch.#seeds = this.#seeds === null ? null : { ...this.#seeds };
      branch.#episode = new Episode(episode.start, machine, episode.seed, path, mark);
      branch.#episode.origin = originOf("branch", facts, machine);
      branch.#golden = this.#golden;
      await branch.#keepFirst(branch.#episode);
      if (this.#closing !== null || cancellation.requested) {
        await branch.close();
        this.#checkOpen(cancellation);
      }
      return branch;
    });
  }

  /** Whatever is running: it only looks at what is kept. */
  async checkpoints(): Promise<CheckpointListing> {
    if (this.#closing !== null) throw closedError();
    return Promise.resolve(listCheckpoints(this.#started()));
  }

  provenance(): Provenance {
    const { start, seed, origin } = this.#started();
    return {
      taskVersion: this.#scenario.version,
      verifierVersion: start.grader?.version ?? "none",
      variant: start.digest,
      params: structuredClone(start.params),
      seed,
      image: this.#scenario.image,
      ...(this.#golden.image === undefined ? {} : { imageDigest: this.#golden.image }),
      golden: this.#golden.digest,
      fork: origin,
      use: start.use,
      granted: [...start.granted],
    };
  }

  async state(): Promise<StateMark> {
    const { machine, record, guestMs, instructions } = this.#alive();
    return { step: record.steps, digest: await machine.digest(), instructions, guestMs };
  }

  async saveState(path: string): Promise<{ digest: string }> {
    const { machine } = this.#alive();
    if (machine.saveState === undefined)
      throw new ShinkenError("host_unsupported", "machines of this kind cannot be written to a file");
    return machine.saveState(path);
  }

  /**
   * The request is answered at once; what its machine is in the middle of is stopped, a grade fork also closed, so that the next
   * one need not wait.
   */
  cancel(): void {
    this.#exclusive.cancel();
    this.#episode?.machine.cancel();
  }

  /**
   * The running episode with its machine, for gates that prove a task by changing what an episode left. Agents and
   * servers have no business here.
   */
  episode(): Episode {
    return this.#alive();
  }

  onEvent(listener: (event: EnvironmentEvent) => void): void {
    this.#listeners.push(listener);
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#exclusive.cancel();
      await this.#endEpisode();
      await this.#exclusive.idle();
      await this.#endEpisode();
      this.#lease?.release();
      this.#lease = null;
    })();
    return this.#closing;
  }

  /** Carries out the actions of a step, reads the milestones, and says how things stand. */
  async #act(
    episode: Episode,
    parsed: ReturnType<typeof parseActions>,
    cancellation: Cancellation,
    reading: AbortSignal,
  ): Promise<StepResult> {
    const { start, machine, record } = episode;
    const results: Observation["results"] = [];
    let limit: Episode["truncatedBy"] = null;
    for (const { definition, action } of parsed) {
      cancellation.check();
      const { user, home, cwd } = start;
      const result = await definition.run(action, {
        sandbox: machine,
        user,
        home,
        cwd,
        remainingMs: episode.remainingMs,
      });
      results.push(result);
      episode.note(action);
      limit = episode.reachedLimit();
      // Actions beyond a limit on the machine's time were never granted; the step limit counts whole steps.
      if (limit !== null && limit !== "steps") break;
    }
    cancellation.check();
    const paid = await payMilestones(episode, (event) => this.#emit(event), reading);
    cancellation.check();
    const observation: Observation = { results };
    const checkpoint = await this.#keep(episode, observation);
    cancellation.check();
    const terminated = record.end !== "none";
    if (!terminated) episode.truncatedBy = limit;
    episode.lastObservation = observation;
    const actions = parsed.slice(0, results.length).map(({ action }) => action);
    const progress = episode.watch.record(record.steps, actions, observation, paid.earned.length > 0);
    if (progress !== null) this.#emit(progress);
    const info: Info = {
      step: record.steps,
      guest_ms: episode.guestMs,
      instructions: episode.instructions,
      earned: paid.earned,
      held: [...episode.held],
    };
    if (paid.ms !== null) info["grading_ms"] = Math.round(paid.ms * 1_000) / 1_000;
    if (paid.lost.length > 0) info["lost"] = paid.lost;
    if (paid.ungraded.length > 0) info["ungraded"] = paid.ungraded;
    if (episode.truncatedBy !== null) info["truncated_by"] = episode.truncatedBy;
    if (checkpoint !== null) episode.marks.set(record.steps, episode.mark());
    Object.assign(info, infoOf(checkpoint));
    return {
      observation: structuredClone(observation),
      reward: paid.reward,
      terminated,
      truncated: episode.truncatedBy !== null,
      info,
    };
  }

  /** Keeps the machine as it is after the present step; null if nobody wants that, or the host has no memory for it. */
  async #keep(episode: Episode, observation: Observation): Promise<CheckpointInfo | null> {
    if (this.#options.checkpoints === undefined) return null;
    try {
      return await keepCheckpoint(episode, observation);
    } catch (error) {
      // The step is done all the same; only the way back to it is missing.
      if (!(error instanceof ShinkenError) || error.code !== "out_of_memory") throw error;
      this.#emit({ event: "infra", code: error.code, message: error.message });
      return null;
    }
  }

  /** The same where an episode or a branch begins; closes its machine if that fails. */
  async #keepFirst(episode: Episode): Promise<CheckpointInfo | null> {
    try {
      const checkpoint = await this.#keep(episode, episode.lastObservation);
      if (checkpoint !== null) episode.marks.set(checkpoint.step, episode.mark());
      return checkpoint;
    } catch (error) {
      await episode.machine.close();
      throw error;
    }
  }

  #markOf(episode: Episode, step: number): EpisodeMark {
    const mark = episode.marks.get(step);
    if (mark !== undefined) return mark;
    const suggestion =
      this.#options.checkpoints === undefined ? "create the session with checkpoints" : undefined;
    throw checkpointMissing(step, episode.marks.keys(), suggestion);
  }

  /** After a cancel: the machine's next request kills what was running, so that no branch takes it along. */
  async #rest(episode: Episode, cancellation: Cancellation, error: unknown): Promise<never> {
    if (cancellation.requested && this.#closing === null)
      await episode.machine.wait(restMs).catch(() => undefined);
    throw error;
  }

  #resetInfo(episode: Episode, machine: Sandbox): Info {
    const { start } = episode;
    const info: Info = {
      version: this.#scenario.version,
      variant: start.digest,
      params: structuredClone(start.params),
      seed: episode.seed,
    };
    // The one figure of host time in an info: equal seeds give equal infos but for it.
    if (machine.readyMs !== null) info["ready_ms"] = machine.readyMs;
    return info;
  }

  #nextSeeds(given: number | undefined): SeedState | null {
    if (given !== undefined) return { run: checkSeed(given), episode: 0 };
    return this.#seeds === null ? null : { run: this.#seeds.run, episode: this.#seeds.episode + 1 };
  }

  async #fork(lease: GoldenLease, facts: ForkFacts): Promise<Sandbox> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await lease.golden.fork({
          ...forkOptions(facts),
          checkpoints: checkpointOptions(this.#options),
        });
      } catch (error) {
        const again = error instanceof ShinkenError && error.retry && attempt < forkAttempts;
        if (error instanceof ShinkenError)
          this.#emit({ event: "infra", code: error.code, message: error.message });
        if (!again) throw error;
      }
    }
  }

  /** Work on the open session, one piece at a time. */
  #run<T>(what: string, work: (cancellation: Cancellation) => Promise<T>): Promise<T> {
    if (this.#closing !== null) return Promise.reject(closedError());
    return this.#exclusive.run(what, work);
  }

  #checkOpen(cancellation: Cancellation): void {
    if (this.#closing !== null) throw closedError();
    cancellation.check();
  }

  #started(): Episode {
    if (this.#episode === null)
      throw new ShinkenError("not_reset", "the session has not been reset", {
        suggestion: "send reset first",
      });
    return this.#episode;
  }

  #alive(): Episode {
    const episode = this.#started();
    if (this.#death === null) return episode;
    throw new ShinkenError(this.#death.code, `the machine is gone: ${this.#death.message}`, {
      suggestion: "reset starts a new one",
    });
  }

  /** The error to answer with; if it is the harness's fault, the episode's machine is given up. */
  #orDeath(episode: Episode, error: unknown, cancellation: Cancellation): unknown {
    // Closing the machine under running work is how a close or a cancel ends it; that is nobody's fault.
    if (this.#closing !== null || cancellation.requested || !isInfrastructure(error)) return error;
    // A branch that was refused has done nothing to its parent.
    if (error instanceof ShinkenError && error.code === "out_of_memory") return error;
    const death =
      error instanceof ShinkenError ? error : new ShinkenError("internal", String(error), { cause: error });
    if (this.#death === null) {
      this.#death = death;
      void episode.machine.close();
      this.#emit({ event: "infra", code: death.code, message: death.message });
    }
    return death;
  }

  async #endEpisode(): Promise<void> {
    const machine = this.#episode?.machine;
    this.#episode = null;
    this.#death = null;
    await machine?.close();
  }

  #emit(event: EnvironmentEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function infoOf(checkpoint: CheckpointInfo | null): Info {
  return checkpoint === null ? {} : { checkpoint };
}

function paramSeed(seeds: SeedState | null): number {
  if (seeds === null) return randomSeed();
  return seeds.episode === 0 ? seeds.run : derivedSeed(seeds.run, `params/episode-${seeds.episode}`);
}

function nothingToGrade(task: string, taskVersion: string): Verdict {
  return {
    task,
    taskVersion,
    verifierVersion: "none",
    status: "ungraded",
    score: null,
    passed: null,
    reason: "a plain sandbox has nothing to grade",
    checks: [],
  };
}

function closedError(): ShinkenError {
  return new ShinkenError("machine_closed", "the session was closed");
}
