/** Best-of-n: several tries at one episode, of which one is taken by a stated rule. What comes of it is not pass@1. */
import { ShinkenError } from "../../errors/index.js";
import type { BestOf, EpisodeOutcome, SelectionRule } from "../episode.js";
import type { PastStep } from "../../operator/index.js";
import { subSeed } from "../seeds.js";
import type { EpisodeJob, Opened } from "./job.js";
import type { Pipeline } from "./pipeline.js";

export interface BestOfOptions {
  /** Tries, at least 2. */
  n: number;
  rule: SelectionRule;
  /** They share the episode up to this step and are forks of the machine there; 0 if unsaid: each from the golden. */
  fromStep?: number | undefined;
}

/** Plays and chooses. Never rejects but for options that make no sense (`bad_request`). */
export async function playBestOf(
  pipeline: Pipeline,
  job: EpisodeJob,
  options: BestOfOptions,
  signal?: AbortSignal,
): Promise<BestOf> {
  const { n, rule, fromStep = 0 } = checked(options);
  const candidates =
    fromStep === 0
      ? await Promise.all(
          Array.from({ length: n }, (_, index) =>
            pipeline.play(
              { ...job, seed: index === 0 ? job.seed : subSeed(job.seed, `best-of/${index}`) },
              signal,
            ),
          ),
        )
      : await playBranches(pipeline, job, { n, fromStep }, signal);
  return { n, rule, fromStep, selected: select(candidates, rule), candidates };
}

/** The outcome of the replica: that of the chosen one, which says among whom it was chosen. */
export function chosenOutcome(bestOf: BestOf): EpisodeOutcome {
  const { candidates, selected, n, rule } = bestOf;
  const chosen = candidates[selected ?? 0] as EpisodeOutcome;
  if (selected !== null) return { ...chosen, bestOf };
  const reason = `best of ${n} by ${rule}: none could be chosen; the first says: ${chosen.reason ?? "nothing"}`;
  return { ...chosen, status: "ungraded", score: null, passed: null, reason, bestOf };
}

async function playBranches(
  pipeline: Pipeline,
  job: EpisodeJob,
  { n, fromStep }: { n: number; fromStep: number },
  signal: AbortSignal | undefined,
): Promise<EpisodeOutcome[]> {
  let branches: EpisodeOutcome[] | undefined;
  const trunk = await pipeline.play(
    {
      ...job,
      trunk: {
        steps: fromStep,
        branch: async (...trunk) => {
          const open = branchOpener(job, ...trunk);
          branches = await Promise.all(
            Array.from({ length: n }, () => pipeline.play({ ...job, open }, signal)),
          );
        },
      },
    },
    signal,
  );
  return branches ?? [trunk];
}

/** Opens a branch of the trunk. One at a time: a session does one thing at a time, and the order gives the branches their seeds. */
function branchOpener(
  { operator, variant }: EpisodeJob,
  trunk: Opened,
  before: EpisodeOutcome,
  past: readonly PastStep[],
): NonNullable<EpisodeJob["open"]> {
  let free: Promise<unknown> = Promise.resolve();
  return async (outcome, opened) => {
    const forking = free.then(() => trunk.session.fork());
    free = forking.catch(() => undefined);
    const session = await forking;
    opened(session);
    const { steps, reward, milestones, stepMs, operatorMs, resetMs, readyMs } = before;
    Object.assign(outcome, { steps, reward, resetMs, readyMs });
    outcome.milestones.push(...milestones);
    outcome.stepMs.push(...stepMs);
    outcome.operatorMs.push(...operatorMs);
    if (operator.scripted !== true) {
      // It is told what the task is, and what was done before it began.
      const observation = await session.observe();
      return { session, player: operator.play(variant, past), last: { observation, info: {} } };
    }
    const player = operator.play(variant);
    for (const _ of past) await player.next(trunk.last);
    return { session, player, last: trunk.last };
  };
}

/** Of those that were played to an end; by `score` only those that have one. */
export function select(candidates: readonly EpisodeOutcome[], rule: SelectionRule): number | null {
  const figure = (candidate: EpisodeOutcome): number | null => {
    if (candidate.ended === null) return null;
    if (rule === "score") return candidate.score;
    return rule === "reward" ? candidate.reward : Number(candidate.ended === "terminated");
  };
  let best: { index: number; figure: number; steps: number } | undefined;
  for (const [index, candidate] of candidates.entries()) {
    const value = figure(candidate);
    if (value === null) continue;
    const steps = rule === "done" ? 0 : candidate.steps;
    const better = best === undefined || value > best.figure || (value === best.figure && steps < best.steps);
    if (better) best = { index, figure: value, steps };
  }
  return best?.index ?? null;
}

function checked(options: BestOfOptions): BestOfOptions {
  const { n, fromStep = 0 } = options;
  if (!Number.isInteger(n) || n < 2)
    throw new ShinkenError("bad_request", "n: must be an integer of at least 2", { path: "n" });
  if (!Number.isInteger(fromStep) || fromStep < 0)
    throw new ShinkenError("bad_request", "fromStep: must be an integer of at least 0", { path: "fromStep" });
  return options;
}
