/** Groups: k replicas of one variant, which share its golden and which a trainer wants together. */
import { ShinkenError } from "../../errors/index.js";
import type { EpisodeOutcome } from "../episode.js";
import { quantile } from "../statistics/index.js";
import { subSeed } from "../seeds.js";
import type { EpisodeJob } from "./job.js";
import type { Pipeline, Running } from "./pipeline.js";

/** What becomes of a straggler: it is waited for, cut, or cut and played again from another seed. */
export const stragglerPolicies = ["wait", "drop", "resample"] as const;
export type StragglerPolicy = (typeof stragglerPolicies)[number];

export interface GroupOptions {
  /** Replicas. */
  k: number;
  policy: StragglerPolicy;
  /** Replicas that must be over before any other can be late; half of them, rounded up, if unsaid. */
  quorum?: number | undefined;
  /**
   * A replica is late once it has been worked on for this many times the median of those that are over (3 if unsaid), and for
   * `patienceSeconds` (5) at least. Waiting for a slot does not make it late.
   */
  patience?: number | undefined;
  patienceSeconds?: number | undefined;
  /** Times that one replica is played again under `resample`, before it is dropped; 1 if unsaid. */
  resamples?: number | undefined;
}

export interface GroupOutcome {
  task: string;
  policy: StragglerPolicy;
  k: number;
  /** Those that ended by themselves, graded or not, by replica. */
  episodes: EpisodeOutcome[];
  /** Replicas without an episode, and how long they were worked on when they were cut. */
  dropped: { replica: number; activeMs: number }[];
  /** Replicas that were played again, with the seed that they were cut with. */
  resampled: { replica: number; seed: number; activeMs: number }[];
  /** Whether every replica has an episode. */
  whole: boolean;
}

interface Member {
  replica: number;
  seed: number;
  running: Running;
  tries: number;
  cut: boolean;
  over: boolean;
  activeMs: number;
}

/** Between two looks at replicas that are late or wait for a slot, milliseconds at least. */
const shortestLookMs = 20;

/** Plays `k` replicas of the job; `job.seed` is the group's. Never rejects but for options that make no sense. */
export async function playGroup(
  pipeline: Pipeline,
  job: Omit<EpisodeJob, "replica" | "open" | "trunk">,
  options: GroupOptions,
  signal?: AbortSignal,
): Promise<GroupOutcome> {
  return new Group(pipeline, job, options, signal).play();
}

class Group {
  private readonly pipeline: Pipeline;
  private readonly job: Omit<EpisodeJob, "replica">;
  private readonly options: { [Name in keyof Required<GroupOptions>]: NonNullable<GroupOptions[Name]> };
  private readonly signal: AbortSignal | undefined;
  private readonly members: Member[] = [];
  private readonly outcome: GroupOutcome;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    pipeline: Pipeline,
    job: Omit<EpisodeJob, "replica">,
    options: GroupOptions,
    signal: AbortSignal | undefined,
  ) {
    const { k, policy } = options;
    if (!Number.isInteger(k) || k < 1)
      throw new ShinkenError("bad_request", "k: must be an integer of at least 1", { path: "k" });
    this.pipeline = pipeline;
    this.job = job;
    this.signal = signal;
    this.options = {
      k,
      policy,
      quorum: options.quorum ?? Math.ceil(k / 2),
      patience: options.patience ?? 3,
      patienceSeconds: options.patienceSeconds ?? 5,
      resamples: options.resamples ?? 1,
    };
    const task = job.variant.task.id;
    this.outcome = { task, policy, k, episodes: [], dropped: [], resampled: [], whole: false };
  }

  async play(): Promise<GroupOutcome> {
    const { outcome } = this;
    try {
      await Promise.all(Array.from({ length: this.options.k }, (_, replica) => this.replica(replica)));
    } finally {
      clearTimeout(this.timer);
    }
    outcome.episodes.sort((a, b) => a.replica - b.replica);
    outcome.whole = outcome.dropped.length === 0;
    return outcome;
  }

  private async replica(replica: number): Promise<void> {
    const { resamples, policy } = this.options;
    for (let tries = 0; ; tries += 1) {
      const seed = subSeed(this.job.seed, tries === 0 ? `${replica}` : `${replica}/again-${tries}`);
      const running = this.pipeline.start({ ...this.job, replica, seed }, this.signal);
      const member: Member = { replica, seed, running, tries, cut: false, over: false, activeMs: 0 };
      this.members.push(member);
      // The others may all be over, so that nobody else looks after it.
      this.look();
      const episode = await running.outcome;
      member.over = true;
      // One that came to its end while it was being cut has an end.
      if (!member.cut || episode.status === "graded") {
        member.activeMs = activeMsOf(episode);
        this.outcome.episodes.push(episode);
        this.look();
        return;
      }
      const activeMs = activeMsOf(episode);
      if (policy !== "resample" || tries >= resamples) {
        this.outcome.dropped.push({ replica, activeMs });
        return;
      }
      this.outcome.resampled.push({ replica, seed, activeMs });
    }
  }

  /** Cuts who is late, and comes back when the next one may be. */
  private look(): void {
    const { policy, quorum, patience, patienceSeconds } = this.options;
    clearTimeout(this.timer);
    if (policy === "wait" || this.outcome.episodes.length < quorum) return;
    const typical = quantile(this.outcome.episodes.map(activeMsOf), 0.5) ?? 0;
    const limitMs = Math.max(patience * typical, patienceSeconds * 1_000);
    let nextMs = Number.POSITIVE_INFINITY;
    for (const member of this.members.filter(({ over, cut }) => !over && !cut)) {
      const leftMs = limitMs - member.running.activeMs();
      if (leftMs > 0) {
        nextMs = Math.min(nextMs, leftMs);
        continue;
      }
      member.cut = true;
      member.running.cancel(
        new ShinkenError("cancelled", "the replica was late, and its group goes on without it"),
      );
    }
    if (Number.isFinite(nextMs)) this.timer = setTimeout(() => this.look(), Math.max(nextMs, shortestLookMs));
  }
}

/** Of the attempt that counts. */
function activeMsOf({ attempts }: EpisodeOutcome): number {
  const { init = 0, run = 0, verify = 0 } = attempts.at(-1)?.activeMs ?? {};
  return init + run + verify;
}
