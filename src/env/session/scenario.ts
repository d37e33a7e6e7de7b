/** What a session plays, however it came about: a task, or a bare image without any grading. */
import type { Sandbox } from "../../sandbox/sandbox.js";
import type { ShinkenError } from "../../errors/index.js";
import type { Milestone, Verdict } from "../../verifiers/index.js";
import type { ActionCapability } from "../aci/index.js";
import type { EpisodeRecord } from "./episode.js";
import type { GoldenLease } from "./goldens.js";

export interface AgentLimits {
  /** Steps after which the episode is truncated. */
  steps: number;
  guestSeconds: number;
  instructions: number;
  /** Host seconds of work in all steps together; beyond, the episode ends as an infra failure. */
  wallSeconds: number;
}

/** What has changed about the milestones since they were last read. */
export interface MilestoneReading {
  earned: readonly Milestone[];
  /** Revocable ones that no longer hold. */
  lost: readonly Milestone[];
  /** Scores of dense ones that were read, earned or not. */
  scores: ReadonlyMap<string, number>;
  /** How many checks were asked. */
  asked: number;
  /** Ids of those that could not be read. */
  ungraded: readonly string[];
  /** The failure of the harness that kept one from being read; null where the content is to blame, or all could be read. */
  fault: ShinkenError | null;
}

/** How the milestones stand before anybody has done anything. */
export interface Baseline {
  readonly held: ReadonlySet<string>;
  /** Scores of dense milestones: what they have already pays nothing. */
  readonly scores: ReadonlyMap<string, number>;
}

export interface Grader {
  /**
   * Milestones that already hold in the golden: they pay nothing. Rejects where the harness could not read them, since one that
   * was not seen to hold would be paid for.
   */
  baseline(): Promise<Baseline>;
  /**
   * Reads, in a grade fork, the milestones that may change. Rejects with what the machine died of, or with `cancelled` once
   * `signal` is aborted and the fork is closed.
   */
  read(
    machine: Sandbox,
    episode: EpisodeRecord,
    held: ReadonlySet<string>,
    signal?: AbortSignal,
  ): Promise<MilestoneReading>;
  /**
   * The whole verdict, in a grade fork. What fails is an ungraded verdict; rejects only with `cancelled`, once `signal` is
   * aborted and the fork is closed.
   */
  evaluate(machine: Sandbox, episode: EpisodeRecord, signal?: AbortSignal): Promise<Verdict>;
  /** Milestones that pay for their growth, in graph order. */
  readonly dense: readonly Milestone[];
  /** Version of the checks. */
  readonly version: string;
  /** The verdict where there is nothing to grade. */
  ungraded(reason: string): Verdict;
}

/** The start of one episode: everything that its parameters decide. */
export interface Start {
  readonly instruction: string | undefined;
  readonly params: Record<string, unknown>;
  /** Digest of the variant. */
  readonly digest: string;
  readonly user: string;
  readonly home: string;
  readonly cwd: string;
  readonly granted: ReadonlySet<ActionCapability>;
  /** `eval`: for measuring only. */
  readonly use?: "eval" | undefined;
  readonly limits: AgentLimits;
  readonly grader: Grader | null;
  /** The golden to fork. */
  golden(): Promise<GoldenLease>;
}

export interface Scenario {
  readonly id: string;
  readonly version: string;
  readonly image: string;
  /** Rejects with `bad_request` for parameters that do not fit. */
  start(seed: number, params?: Record<string, unknown>): Start;
}
