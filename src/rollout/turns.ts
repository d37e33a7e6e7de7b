/** An operator and a session take turns. */
import type { Environment, ResetResult, StepResult } from "../env/environment.js";
import { type ErrorCode, ShinkenError } from "../errors/index.js";
import type { Player, Turn } from "../operator/index.js";
import type { EpisodeOutcome } from "./episode.js";
import { isCancelled, type Phase } from "./pipeline/phase.js";

/** Steps after which a player that does not end is stopped, whatever the task says. */
const stepsAtMost = 10_000;

/** Errors of a step that are the operator's doing: the machine is as it was, and what was done so far counts. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "bad_action",
  "bad_request",
  "capability_denied",
  "too_large",
]);

export interface TurnsOptions {
  /** Its budget; without one it plays as long as it takes. */
  phase?: Phase | undefined;
  /** Stops after so many steps of the episode, if it has not ended before. */
  until?: number | undefined;
  /** Told of each step that was done. */
  onStep?: ((turn: Turn, result: StepResult) => void) | undefined;
}

export interface Played {
  /** What the session said last. */
  last: ResetResult | StepResult;
  /** The error of an action that was refused, where that ended the play. */
  refusal?: ShinkenError;
}

/**
 * Plays until somebody ends it, and notes it all in `outcome`, what ended it in `outcome.ended`; that stays null where `until` was reached. A
 * budget that runs out stops the player through its signal and the guest through `cancel`, and ends the play. Rejects where the
 * harness fails or the job is cancelled, and with `machine_timeout` where the session does not answer to a cancel.
 */
export async function playTurns(
  session: Environment,
  player: Player,
  last: ResetResult | StepResult,
  outcome: EpisodeOutcome,
  { phase, until, onStep }: TurnsOptions = {},
): Promise<Played> {
  let seen = last;
  while (outcome.steps < (until ?? Number.POSITIVE_INFINITY)) {
    if (outcome.steps >= stepsAtMost) return ended(outcome, "steps", seen);
    const turn = await choose(player, seen, outcome, phase);
    if (turn === "budget") return ended(outcome, "budget", seen);
    if (turn === null) return ended(outcome, "operator", seen);
    const result = await step(session, turn, outcome, phase);
    if (result === "budget") return ended(outcome, "budget", seen);
    if (result instanceof ShinkenError) return { ...ended(outcome, "refused", seen), refusal: result };
    onStep?.(turn, result);
    seen = result;
    if (result.terminated) return ended(outcome, "terminated", seen);
    if (result.truncated) return ended(outcome, "truncated", seen);
  }
  return { last: seen };
}

function ended(
  outcome: EpisodeOutcome,
  by: NonNullable<EpisodeOutcome["ended"]>,
  last: ResetResult | StepResult,
): Played {
  outcome.ended = by;
  return { last };
}

/** The next turn; a player that does not heed its signal is left behind. */
async function choose(
  player: Player,
  seen: ResetResult | StepResult,
  outcome: EpisodeOutcome,
  phase: Phase | undefined,
): Promise<Turn | null | "budget"> {
  const began = performance.now();
  try {
    phase?.signal.throwIfAborted();
    return await (phase === undefined
      ? player.next(seen)
      : unlessOver(player.next(seen, phase.signal), phase));
  } catch (error) {
    if (phase?.spent === true) return "budget";
    throw error;
  } finally {
    outcome.operatorMs.push(performance.now() - began);
    // Of a failed episode as well: what was used was used.
    outcome.account = player.account?.() ?? null;
  }
}

function unlessOver<T>(work: Promise<T>, { signal }: Phase): Promise<T> {
  return new Promise((resolve, reject) => {
    const over = () => reject(signal.reason as Error);
    if (signal.aborted) over();
    signal.addEventListener("abort", over, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", over));
  });
}

async function step(
  session: Environment,
  { actions, decision }: Turn,
  outcome: EpisodeOutcome,
  phase: Phase | undefined,
): Promise<StepResult | ShinkenError | "budget"> {
  const began = performance.now();
  try {
    const work = session.step(actions, decision);
    const result = await (phase === undefined ? work : phase.guard(work, () => session.cancel()));
    outcome.steps += 1;
    outcome.stepMs.push(performance.now() - began);
    outcome.reward += result.reward;
    for (const id of textsOf(result.info["earned"])) {
      if (!outcome.milestones.includes(id)) outcome.milestones.push(id);
    }
    outcome.truncated = result.truncated;
    return result;
  } catch (error) {
    if (phase?.spent === true && (error === phase.signal.reason || isCancelled(error))) return "budget";
    if (error instanceof ShinkenError && refusals.has(error.code)) return error;
    throw error;
  }
}

/** The texts in what a server sent as a list. */
function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
