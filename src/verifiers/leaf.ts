/** One leaf under evaluation, whatever its kind: its fork, its deadline, and what its errors come to. */
import { setMaxListeners } from "node:events";
import { isInfrastructure, ShinkenError } from "../errors/index.js";
import { checkPlan } from "./check.js";
import type { ChannelContext, EpisodeFacts } from "./channels/channel.js";
import { readChannel } from "./channels/read.js";
import { type ChannelQuery, isLive, needsMachine, onlyLooks } from "./channels/schema.js";
import { codePlan } from "./code/plan.js";
import type { JudgeModel } from "./judge/model.js";
import { judgePlan, type JudgeRecord } from "./judge/plan.js";
import { DeadlinePassed } from "./deadline.js";
import { cut } from "./evidence.js";
import type { Forks } from "./forks.js";
import { type LeafNode, isCheck, isJudge, isScorer } from "./schema.js";
import type { ScorerLibrary } from "./scorer/library.js";
import { scorerPlan } from "./scorer/plan.js";
import { type Answer, ContentFault, type Judgement } from "./value.js";
import { cameToLimit, type MachineView } from "./view.js";

/** What a leaf came to before combinations see it. */
export type Finding =
  | { score: number; evidence: string; judge?: JudgeRecord | undefined }
  /** `fault`: the harness could not ask; unsaid where the content is to blame. */
  | { ungraded: string; fault?: ShinkenError | undefined; judge?: JudgeRecord | undefined };

/** What a leaf may use while it works. */
export interface LeafAccess {
  /** Reads a query from the leaf's fork. */
  read(query: ChannelQuery): Promise<Answer>;
  readAsset(path: string): Promise<Uint8Array>;
  /** Grading assets that are JavaScript or TypeScript. */
  modules: readonly string[];
  episode: EpisodeFacts;
  scorers: ScorerLibrary | undefined;
  judge: JudgeModel | undefined;
  /** Votes of a judge node that does not say how many. */
  quorum: number;
  /** Aborts when the deadline has passed or the evaluation ends. */
  signal: AbortSignal;
}

/** How one kind of leaf is evaluated. */
export interface LeafPlan {
  /** Everything that it is known to ask; the first of a check is read ahead. */
  ahead: ChannelQuery | undefined;
  /** The leaf changes its fork, or puts there what no other may see. */
  ownFork: boolean;
  /** Its files need their hash. */
  wantHash: boolean;
  work(access: LeafAccess): Promise<Judgement>;
}

export interface LeafSources {
  forks: Forks;
  episode: EpisodeFacts;
  readAsset(path: string): Promise<Uint8Array>;
  modules: readonly string[];
  scorers: ScorerLibrary | undefined;
  judge: JudgeModel | undefined;
  quorum: number;
  /** Resolves once every read that was started ahead is through: a command runs only after them. */
  readsDone(): Promise<void>;
  /** Aborts the whole evaluation. */
  signal: AbortSignal | undefined;
}

interface Reading {
  view: Promise<MachineView> | undefined;
  answer: Promise<Answer>;
}

/** One leaf under evaluation. */
export class LeafRun {
  readonly leaf: LeafNode;
  private readonly plan: LeafPlan;
  private readonly sources: LeafSources;
  private readonly controller = new AbortController();
  private prefetched: Reading | undefined;
  private view: Promise<MachineView> | undefined;
  /** Forks in which the workload goes on, one for each query that talks to it. */
  private readonly live: Promise<MachineView>[] = [];

  constructor(leaf: LeafNode, sources: LeafSources) {
    this.leaf = leaf;
    this.plan = planOf(leaf);
    this.sources = sources;
    // Every read of a leaf may listen for its end.
    setMaxListeners(0, this.controller.signal);
  }

  /** Starts reading now if that can neither change the machine nor see what another check does. */
  prefetch(): void {
    const query = this.plan.ahead;
    if (query === undefined || !onlyLooks(query) || !needsMachine(query) || this.plan.ownFork) return;
    const view = this.sources.forks.shared(this.leaf.machine);
    const answer = readChannel(
      query,
      this.context(query, () => view),
    );
    // Whoever awaits it later sees the error; until then it must not count as unhandled.
    answer.catch(() => undefined);
    this.prefetched = { view, answer };
  }

  /** Resolves when the read that `prefetch` started is through, however it ended. */
  async prefetchDone(): Promise<void> {
    await this.prefetched?.answer.catch(() => undefined);
  }

  /** Never rejects: what goes wrong is an ungraded finding. */
  async evaluate(): Promise<Finding> {
    const timer = setTimeout(() => {
      this.controller.abort(new DeadlinePassed(`no result after ${this.leaf.deadline_ms} ms`));
    }, this.leaf.deadline_ms);
    const stop = (): void => this.controller.abort(this.sources.signal?.reason);
    this.sources.signal?.addEventListener("abort", stop, { once: true });
    if (this.sources.signal?.aborted === true) stop();
    try {
      const { score, evidence, judge } = await withAbort(() => this.work(), this.controller.signal);
      const { undecided } = this.leaf;
      if (undecided !== undefined && undecided.above < score && score < undecided.below)
        return { ungraded: cut(`undecided: a score of ${score} (${evidence})`) };
      return { score, evidence: cut(evidence), judge };
    } catch (error) {
      return this.explain(this.controller.signal.aborted ? this.controller.signal.reason : error);
    } finally {
      clearTimeout(timer);
      this.sources.signal?.removeEventListener("abort", stop);
      await this.release();
    }
  }

  private work(): Promise<Judgement> {
    return this.plan.work({
      read: (query) => this.read(query),
      readAsset: (path) => this.sources.readAsset(path),
      modules: this.sources.modules,
      scorers: this.sources.scorers,
      episode: this.sources.episode,
      judge: this.sources.judge,
      quorum: this.sources.quorum,
      signal: this.controller.signal,
    });
  }

  private async read(query: ChannelQuery): Promise<Answer> {
    const ahead = query === this.plan.ahead ? this.prefetched : undefined;
    if (ahead !== undefined && ahead.view === this.sources.forks.shared(this.leaf.machine)) {
      this.view = ahead.view;
      try {
        return await ahead.answer;
      } catch (error) {
        if (!cameToLimit(error)) throw error;
        // Looks are served together, so this may be another's fault: asked alone, in another fork, each gets its own answer.
        this.sources.forks.retire(ahead.view);
        this.view = undefined;
      }
    }
    return this.readNow(query);
  }

  /** A command of an author who forgot `mutates` must at least not race the reads of the other checks. */
  private async readNow(query: ChannelQuery): Promise<Answer> {
    if (isLive(query)) {
      const view = this.liveMachine();
      return readChannel(
        query,
        this.context(query, () => view),
      );
    }
    if (!onlyLooks(query) && !this.plan.ownFork) await this.sources.readsDone();
    return readChannel(
      query,
      this.context(query, () => this.machine()),
    );
  }

  private machine(): Promise<MachineView> {
    this.view ??= this.plan.ownFork
      ? this.sources.forks.own(this.leaf.machine)
      : this.sources.forks.shared(this.leaf.machine);
    return this.view;
  }

  /** What runs in it must not be seen by a query that only looks, so nobody else gets it. */
  private liveMachine(): Promise<MachineView> {
    const taken = this.sources.forks.own(this.leaf.machine);
    this.live.push(taken);
    const view = taken.then(async (one) => {
      await one.call(async (sandbox) => sandbox.workload?.("goes on"));
      return one;
    });
    // A query that has an answer without the machine never awaits it.
    view.catch(() => undefined);
    return view;
  }

  private context(query: ChannelQuery, view: () => Promise<MachineView>): ChannelContext {
    return {
      view,
      episode: this.sources.episode,
      signal: this.controller.signal,
      wantHash: this.plan.wantHash,
      placeAsset: async (name) => {
        const bytes = await this.sources.readAsset(name);
        const taken = await view();
        const path = `${await taken.assetFolder()}/${name}`;
        await taken.call((sandbox) =>
          sandbox.writeFile(path, bytes, { user: "root", mode: 0o500, parents: true }),
        );
        return path;
      },
    };
  }

  private explain(error: unknown): Finding {
    if (error instanceof ContentFault) {
      const { judge, open } = error;
      if (this.leaf.on_error === "fail" && !open) return { score: 0, evidence: cut(error.message), judge };
      return { ungraded: cut(error.message), judge };
    }
    if (error instanceof ShinkenError) {
      const why = error.code === "machine_timeout" ? "timeout" : error.code;
      return {
        ungraded: cut(`${why}: ${error.message}`),
        fault: isInfrastructure(error) ? error : undefined,
      };
    }
    const text = error instanceof Error ? error.message : String(error);
    const ungraded = cut(`${error instanceof DeadlinePassed ? "timeout" : "grader_error"}: ${text}`);
    return {
      ungraded,
      fault: new ShinkenError("grader_error", `${this.leaf.id}: ${ungraded}`, { cause: error }),
    };
  }

  private async release(): Promise<void> {
    const view = this.view;
    // With the whole evaluation all forks end, and it waits for them.
    if (this.sources.signal?.aborted === true) return;
    for (const one of this.live) await withoutWaiting(this.sources.forks.close(one), this.controller.signal);
    if (view === undefined) return;
    if (this.plan.ownFork) {
      await withoutWaiting(this.sources.forks.close(view), this.controller.signal);
      return;
    }
    const taken = await settled(view);
    if (taken?.stuck === true) this.sources.forks.retire(view);
    if (!this.controller.signal.aborted) return;
    if (taken === undefined || taken.busy) this.sources.forks.retire(view);
  }
}

function planOf(leaf: LeafNode): LeafPlan {
  if (isCheck(leaf)) return checkPlan(leaf);
  if (isScorer(leaf)) return scorerPlan(leaf);
  return isJudge(leaf) ? judgePlan(leaf) : codePlan(leaf);
}

/** The promise's result, or undefined if it is not there yet. */
function settled<T>(promise: Promise<T>): Promise<T | undefined> {
  const soon = new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)));
  return Promise.race([promise.catch(() => undefined), soon]);
}

/** Waits for an action, unless the check was given up: then a stuck machine must not hold the verdict. */
async function withoutWaiting(action: Promise<void>, signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await action;
  else action.catch(() => undefined);
}

/** Settles as `work` does, or rejects when the signal is aborted; work that is not begun by then is not begun. */
function withAbort<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = (): void => reject(signal.reason as Error);
    if (signal.aborted) {
      give();
      return;
    }
    signal.addEventListener("abort", give, { once: true });
    void work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", give));
  });
}
