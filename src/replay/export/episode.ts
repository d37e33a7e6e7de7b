/** A recorded episode as training sees it: what was done and paid, what it was worth, and what came before a branch. */
import { join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import type { Verdict } from "../../verifiers/verdict.js";
import { type Bundle, type BundleStep, readBundle } from "../read/bundle.js";
import type { BundleEvent } from "../read/reader.js";
import { folderOf } from "../read/reader.js";

/** A step that was answered. */
export interface EpisodeStep extends BundleStep {
  observation: BundleEvent<"observation">;
  /** What the step paid in all. */
  reward: number;
  milestones: { check: string; reward: number; partial: boolean }[];
  /** What the model read and wrote for it; null where nobody told. */
  decision: BundleEvent<"decision"> | null;
}

/** What an export needs of a verdict. */
export interface Judged {
  status: "graded" | "ungraded";
  score: number | null;
  passed: boolean | null;
  /** Version of the verifier. */
  verifier: string;
  /** `regraded`: not the session's own, which stands in its bundle. */
  from: "recorded" | "regraded";
}

export interface Episode {
  file: string;
  session: Bundle["session"];
  /** On the state that the episode ended in; null where nobody asked for one. */
  verdict: Judged | null;
  /** Null: of a branch whose parent is not there. */
  history: { start: BundleEvent<"observation">; steps: EpisodeStep[] } | null;
  /** This episode's own; a branch's begin after the step that it continues from. */
  steps: EpisodeStep[];
}

/** Branches of branches are followed so far. */
const ancestorsAtMost = 64;

/** Reads an episode, and of a branch what its parents did before. Rejects as `readBundle`, but not for a parent that is not there. */
export async function readEpisode(file: string): Promise<Episode> {
  const bundle = await readBundle(file);
  const steps = answered(bundle);
  return {
    file,
    session: bundle.session,
    verdict: verdictOf(bundle, steps.at(-1)?.step ?? bundle.start.step),
    history: await historyOf(bundle, ancestorsAtMost),
    steps,
  };
}

/** A verdict on an earlier state says nothing of the last. */
function verdictOf({ verdicts }: Bundle, lastStep: number): Judged | null {
  const last = verdicts.at(-1);
  if (last === undefined || last.step < lastStep) return null;
  const { status, score, passed } = last.verdict as unknown as Verdict;
  return { status, score, passed, verifier: last.verifier, from: "recorded" };
}

/** What the step was told before it acted; null where that is not known. */
export function observationBefore(episode: Episode, index: number): BundleEvent<"observation"> | null {
  const before = episode.steps[index - 1] ?? episode.history?.steps.at(-1);
  return before?.observation ?? episode.history?.start ?? null;
}

async function historyOf(bundle: Bundle, left: number): Promise<Episode["history"]> {
  const { parent } = bundle.session;
  if (parent === null)
    return bundle.start.observation === null ? null : { start: bundle.start.observation, steps: [] };
  if (left === 0) return null;
  let before: Bundle;
  try {
    before = await readBundle(join(folderOf(bundle.file), parent.file));
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  if (before.session.episode !== parent.episode) return null;
  const earlier = await historyOf(before, left - 1);
  const steps = answered(before).filter(({ step }) => step <= parent.step);
  // A parent whose recording ended before the branch does not tell all that the branch began with.
  const reached = steps.at(-1)?.step ?? earlier?.steps.at(-1)?.step ?? 0;
  if (earlier === null || reached !== parent.step) return null;
  return { start: earlier.start, steps: [...earlier.steps, ...steps] };
}

function isAbsent(error: unknown): boolean {
  if (error instanceof ShinkenError) return error.code === "bundle_missing" || error.code === "blob_missing";
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

function answered({ steps }: Bundle): EpisodeStep[] {
  return steps.flatMap((step) =>
    step.observation === null ? [] : [{ ...step, ...paidFor(step), observation: step.observation }],
  );
}

function paidFor({
  rewards,
  decisions,
}: BundleStep): Pick<EpisodeStep, "reward" | "milestones" | "decision"> {
  const milestones = rewards.flatMap(({ check, reward, partial }) =>
    check === null ? [] : [{ check, reward, partial: partial === true }],
  );
  // A step that pays nothing has no event for it.
  const reward = rewards.findLast(({ check }) => check === null)?.reward ?? 0;
  return { reward, milestones, decision: decisions.at(-1) ?? null };
}
