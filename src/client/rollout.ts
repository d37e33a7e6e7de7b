/** A rollout on a server: episodes to pull, and what is told as they end. */
import type { ResetResult } from "../env/environment.js";
import { ShinkenError } from "../errors/index.js";
import type { Verdict } from "../verifiers/verdict.js";
import {
  fromWireVerdict,
  type RolloutNextResult,
  type RolloutNotice,
  type RolloutOpenResult,
  type RolloutResultNotice,
  type WireRolloutStats,
  type WireVerdict,
} from "../wire/index.js";
import type { Call } from "./calls.js";
import { type Caller, RemoteSession } from "./session.js";

/** What a trainer wants: exactly one of `tasks` and `environment`; `docs/protocol.md` says what each field means. */
export interface RolloutOptions {
  tasks?: "all" | readonly string[] | undefined;
  /** One that has no machine: `echo`. */
  environment?: string | undefined;
  /** `eval`: tasks for measuring only may be among them. */
  purpose?: "train" | "eval" | undefined;
  /** Name of the rollout; the server's choice if unsaid. */
  rollout?: string | undefined;
  /** Replicas that share a variant and a golden; 1 if unsaid. */
  group?: number | undefined;
  /** Groups in all; endless if unsaid. */
  groups?: number | undefined;
  seed?: number | undefined;
  /** The n-th group of each task has the n-th of these. */
  seeds?: readonly number[] | undefined;
  weights?: Readonly<Record<string, number>> | undefined;
  priorities?: Readonly<Record<string, number>> | undefined;
  quotas?: Readonly<Record<string, number>> | undefined;
  warm?: { min?: number | undefined; max?: number | undefined } | undefined;
  stragglers?:
    | { policy: "wait" | "drop" | "resample"; quorum?: number | undefined; afterSeconds?: number | undefined }
    | undefined;
  attempts?: number | undefined;
  graceSeconds?: number | undefined;
  checkpoints?: { budgetMiB?: number | undefined } | undefined;
  record?: boolean | undefined;
  labels?: Readonly<Record<string, string | number | boolean>> | undefined;
  secrets?: { values?: readonly string[] | undefined; variables?: readonly string[] | undefined } | undefined;
}

/** How an episode ended. */
export type EpisodeNotice = Omit<RolloutResultNotice, "verdict"> & { verdict: Verdict | null };

/** What a rollout needs of its client. */
export interface RolloutCaller extends Caller {
  /** The connection is gone for good. */
  readonly gone: boolean;
  track(session: RemoteSession): void;
  trackRollout(rollout: RemoteRollout): void;
  forgetRollout(rollout: RemoteRollout): void;
}

/** A session that came out of a rollout: forked and reset already. Closing it ends the episode and has it graded. */
export class RemoteEpisode extends RemoteSession {
  /** What `reset` would have given. */
  readonly first: ResetResult;
  readonly group: string;
  readonly replica: number;
  readonly attempt: number;
  readonly seed: number;
  readonly params: Record<string, unknown>;

  constructor(caller: Caller, pulled: Extract<RolloutNextResult, { done: false }>) {
    super(caller, pulled);
    this.restore(pulled);
    this.first = {
      observation: pulled.observation as unknown as ResetResult["observation"],
      info: pulled.info,
    };
    this.group = pulled.group;
    this.replica = pulled.replica;
    this.attempt = pulled.attempt;
    this.seed = pulled.seed;
    this.params = pulled.params;
  }
}

export class RemoteRollout implements AsyncIterable<RemoteEpisode> {
  readonly #caller: RolloutCaller;
  readonly #open: () => Promise<RolloutOpenResult>;
  readonly #listeners: ((notice: RolloutNotice) => void)[] = [];
  readonly #listens: boolean;
  #opened: Promise<RolloutOpenResult> | undefined;
  #result: RolloutOpenResult | undefined;
  /** Number of the latest event. */
  #heard = 0;
  #closed = false;

  /** `listens`: it hears of all episodes, not only of those that this connection plays. */
  constructor(caller: RolloutCaller, open: () => Promise<RolloutOpenResult>, listens: boolean) {
    this.#caller = caller;
    this.#open = open;
    this.#listens = listens;
  }

  /** Opens it on the server; the first pull does that by itself. One that was refused may be tried again. */
  async open(): Promise<this> {
    const opening = (this.#opened ??= this.#open());
    try {
      this.#result = await opening;
    } catch (error) {
      if (this.#opened === opening) this.#opened = undefined;
      throw error;
    }
    if (!this.#closed) this.#caller.trackRollout(this);
    return this;
  }

  get name(): string {
    return this.#known.rollout;
  }

  /** Others that have it may pull: `joinRollout(name, token)`. */
  get token(): string {
    return this.#known.token;
  }

  get seed(): number {
    return this.#known.seed;
  }

  get tasks(): readonly string[] {
    return this.#known.tasks;
  }

  /** Tasks for measuring only, which "all" has left out of training. */
  get leftOut(): readonly string[] {
    return this.#known.left_out;
  }

  /**
   * The next episode; null once there are no more. Rejects with `no_episode_ready` after `waitSeconds`, with the failure of an episode that
   * could not be begun, and for want of room (`too_many_sessions`, `out_of_memory`); the next pull goes on behind it.
   */
  async next(options: { waitSeconds?: number | undefined } = {}): Promise<RemoteEpisode | null> {
    await this.open();
    for (;;) {
      try {
        const pulled = (await this.#call("rollout.next", {
          wait_s: options.waitSeconds,
        })) as unknown as RolloutNextResult;
        if (pulled.done) return null;
        const episode = new RemoteEpisode(this.#caller, pulled);
        this.#caller.track(episode);
        return episode;
      } catch (error) {
        // What the lost reply would have given comes back to the rollout after its grace time.
        const lost = error instanceof ShinkenError && error.code === "connection_lost";
        if (!lost || this.#caller.gone) throw error;
      }
    }
  }

  /** Pulls until there are no more. Leaving the loop leaves the rollout open: `close` it. */
  async *[Symbol.asyncIterator](): AsyncIterator<RemoteEpisode> {
    for (;;) {
      const episode = await this.next();
      if (episode === null) return;
      yield episode;
    }
  }

  /** For the groups drawn from now on; tasks that are not named keep theirs. */
  async setWeights(weights: Readonly<Record<string, number>>): Promise<void> {
    await this.#call("rollout.weights", { weights });
  }

  async stats(): Promise<WireRolloutStats> {
    return (await this.#call("rollout.stats")) as unknown as WireRolloutStats;
  }

  /** Ends it for all who pull from it, and frees its machines. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed || this.#opened === undefined) return;
    this.#closed = true;
    // What was refused has nothing to end; whoever pulled was told why.
    const opened = await this.#opened.then(
      () => true,
      () => false,
    );
    if (!opened) return;
    try {
      await this.#call("rollout.close");
    } catch (error) {
      if (!(error instanceof ShinkenError) || error.code !== "unknown_rollout") throw error;
    } finally {
      this.#caller.forgetRollout(this);
    }
  }

  /** Told of each episode as it ends. */
  onResult(listener: (result: EpisodeNotice) => void): void {
    this.onNotice((notice) => {
      if (notice.event !== "rollout.result") return;
      const { verdict, ...rest } = notice;
      listener({
        ...rest,
        verdict: verdict === null ? null : fromWireVerdict(verdict as unknown as WireVerdict<Verdict>),
      });
    });
  }

  /** Told of everything: results, groups, episodes that are given out again, its end. */
  onNotice(listener: (notice: RolloutNotice) => void): void {
    this.#listeners.push(listener);
  }

  /** Called by the client for each of its events. */
  deliver(notice: RolloutNotice): void {
    // What was told again after a broken connection may have been heard.
    if (notice.number <= this.#heard) return;
    this.#heard = notice.number;
    for (const listener of this.#listeners) listener(notice);
  }

  /** What joins it anew on another connection. */
  attachCall(): Call {
    const { rollout, token } = this.#known;
    const events = this.#listens ? { events: true, after: this.#heard } : {};
    return { op: "rollout.attach", rollout, token, ...events };
  }

  get #known(): RolloutOpenResult {
    if (this.#result === undefined) {
      throw new ShinkenError("not_reset", "the rollout has not been opened", {
        suggestion: "await open() or next() first",
      });
    }
    return this.#result;
  }

  async #call(op: Call["op"], fields: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    await this.open();
    return this.#caller.call({ op, rollout: this.name, ...fields });
  }
}
