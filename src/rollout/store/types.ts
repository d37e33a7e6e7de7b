/** What the run store holds, as programs see it. Tables and keys are in `docs/runs.md`. */
import type { Account } from "../../operator/index.js";
import type { Verdict } from "../../verifiers/verdict.js";
import type { VerdictRecord } from "../calibration/record.js";

/** What must be equal for the scores of two runs to be comparable. Fixed when the run begins. */
export interface RunLock {
  /** Digest of the task set. */
  taskSet: string;
  /** Version of the verifiers; of several tasks `digestByTask` makes one of them. */
  verifier: string;
  image: string | null;
  golden: string | null;
  /** Name and version of the program that plays and grades. */
  runtime: string;
  operator: string;
  /** Version of what stands between a model and the machine. */
  scaffold: string | null;
  model: string | null;
  revision: string | null;
  seed: number;
  replicas: number;
  /** What else was fixed, such as temperature and budgets. */
  settings: Record<string, string | number | boolean | null>;
}

/** Stands in the lock of a run that was put together from episodes: each episode tells its own. */
export const byTask = "by task";

/** Task set of bundles that do not tell theirs. */
export const unknownTaskSet = "unknown";

/** How a run came here: played into the store, read from bundles, or told by somebody. */
export type RunSource = "played" | "imported" | "reported";

/** Where a score comes from. `recorded`: by the session that played. `self_reported`: nobody here saw it. */
export const provenances = ["recorded", "regraded", "self_reported"] as const;
export type ScoreProvenance = (typeof provenances)[number];

export type Labels = Record<string, string | number | boolean>;

export type RunEnd = "finished" | "interrupted" | "failed";

export interface RunInfo {
  id: string;
  /** Host milliseconds since 1970. */
  began: number;
  ended: number | null;
  /** `open`: nobody has ended it yet. */
  status: "open" | RunEnd;
  source: RunSource;
  lock: RunLock;
  labels: Labels;
  /** Attempts included that were tried again. */
  episodes: number;
}

export interface RunFilter {
  taskSet?: string | undefined;
  operator?: string | undefined;
  model?: string | undefined;
  source?: RunSource | undefined;
}

/** One attempt at one replica. An `EpisodeOutcome` with its keys; null where nobody knows. */
export interface StoredEpisode {
  /** Id of the episode, that of its bundle where it was recorded; no other row has it. */
  episode: string;
  task: string;
  taskVersion: string;
  verifierVersion: string | null;
  image: string | null;
  golden: string | null;
  /** Digest of the task as its parameters decided it. */
  variant: string | null;
  params: Record<string, unknown>;
  replica: number;
  /** 0, and more for each time that a failure of infrastructure was tried again. The last counts. */
  attempt: number;
  seed: number | null;
  /** Path of the bundle. */
  file: string | null;
  /** Hash of the bundle, in hex. */
  sha256: string | null;
  provenance: ScoreProvenance;
  status: "graded" | "ungraded";
  score: number | null;
  passed: boolean | null;
  /** Why it is ungraded. */
  reason: string | null;
  verdict: Verdict | VerdictRecord | null;
  milestones: string[];
  reward: number | null;
  steps: number | null;
  truncated: boolean;
  /** Host milliseconds, but for `guestMs`. */
  readyMs: number | null;
  resetMs: number | null;
  stepMs: number[];
  operatorMs: number[];
  evaluateMs: number | null;
  tokensIn: number | null;
  tokensOut: number | null;
  modelMs: number | null;
  guestMs: number | null;
  harnessMs: number | null;
  judgeMs: number | null;
  /** US dollars. */
  dollars?: number | null;
  /** What the operator says that it used. */
  account?: Account | null;
  labels: Labels;
}

/** A replica that has been played, by its last attempt. */
export interface DoneEpisode {
  task: string;
  replica: number;
  attempt: number;
  status: "graded" | "ungraded";
  reason: string | null;
}

/** A verdict on a recorded episode that was given later. The episode need not be in the store. */
export interface Grading {
  episode: string;
  /** Path of the bundle. */
  file: string;
  /** Of the bundle that was graded, in hex. */
  sha256: string;
  task: string;
  task_version: string;
  /** Digest of graph and modules. */
  verifier: string;
  /** Name and version of the program that graded. */
  runtime: string;
  /** How the end state was had. */
  by: "rerun" | "state";
  provenance: "regraded";
  verdict: VerdictRecord;
}
