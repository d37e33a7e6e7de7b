/**
 * What combinations make of their children. The rule for `ungraded`: a combination is graded only if no score that the
 * ungraded child could have had would change the result. The truth tables are in `docs/verifiers.md`.
 */

/** What a node came to. */
export type Outcome =
  | { kind: "scored"; score: number }
  /** A node that it needs did not pass: it counts as 0, and not even `not` makes a pass of it. */
  | { kind: "skipped"; reason: string }
  /** `harness`: nobody could ask; unsaid where what was asked about is to blame. */
  | { kind: "ungraded"; reason: string; harness?: true };

export interface Child {
  outcome: Outcome;
  weight: number;
  /** Score from which the child counts as complete. */
  threshold: number;
}

/** Rounding of weights must not decide whether a threshold is met. */
const SCORE_EPSILON = 1e-9;

/** Whether a score reaches a threshold. */
export function reaches(score: number, threshold: number): boolean {
  return score >= threshold - SCORE_EPSILON;
}

/** Whether an outcome is a pass. */
export function isPass(outcome: Outcome, threshold: number): boolean {
  return outcome.kind === "scored" && reaches(outcome.score, threshold);
}

const scored = (score: number): Outcome => ({ kind: "scored", score });

function scoreOf(outcome: Outcome): number {
  return outcome.kind === "scored" ? outcome.score : 0;
}

function firstUngraded(children: readonly Child[]): Outcome | undefined {
  return children.find(({ outcome }) => outcome.kind === "ungraded")?.outcome;
}

function graded(children: readonly Child[]): number[] {
  return children.filter(({ outcome }) => outcome.kind !== "ungraded").map(({ outcome }) => scoreOf(outcome));
}

/** The least score. One 0 decides, whatever is ungraded beside it. */
export function combineAll(children: readonly Child[]): Outcome {
  const least = Math.min(...graded(children));
  if (least === 0) return scored(0);
  return firstUngraded(children) ?? scored(least);
}

/** The greatest score. One 1 decides, whatever is ungraded beside it. */
export function combineAny(children: readonly Child[]): Outcome {
  const greatest = Math.max(...graded(children));
  if (greatest === 1) return scored(1);
  return firstUngraded(children) ?? scored(greatest);
}

/** The mean by weight. Every child counts, so one ungraded child leaves it ungraded. */
export function combineWeighted(children: readonly Child[]): Outcome {
  const ungraded = firstUngraded(children);
  if (ungraded !== undefined) return ungraded;
  return scored(meanOf(children, children.length));
}

/**
 * The mean by weight in which everything after the first incomplete child counts as 0, whatever it is. An ungraded child that
 * is reached leaves the whole ungraded.
 */
export function combineSequence(children: readonly Child[]): Outcome {
  const stop = children.findIndex(({ outcome, threshold }) => !isPass(outcome, threshold));
  if (stop === -1) return scored(meanOf(children, children.length));
  const stopped = children[stop]?.outcome;
  if (stopped?.kind === "ungraded") return stopped;
  return scored(meanOf(children, stop + 1));
}

/** True where a `fallback` stops: the child is graded, or nobody could ask it, which no other child makes good. */
export function settles(outcome: Outcome): boolean {
  return outcome.kind !== "ungraded" || outcome.harness === true;
}

/** The first child that settles the question decides; where none does, the last one's reason stands. */
export function combineFallback(children: readonly Child[]): Outcome {
  const deciding = children.find(({ outcome }) => settles(outcome)) ?? children[children.length - 1];
  return (deciding as Child).outcome;
}

/**
 * No judge makes a pass of what programs alone fail: `program` is what the same node comes to without its judges, undefined where
 * nothing else is left.
 */
export function heldBack(outcome: Outcome, program: Outcome | undefined, threshold: number): Outcome {
  if (program === undefined || program.kind === "ungraded") return outcome;
  return isPass(outcome, threshold) && !isPass(program, threshold) ? program : outcome;
}

/** One minus the score; what was skipped stays skipped. */
export function combineNot(outcome: Outcome): Outcome {
  return outcome.kind === "scored" ? scored(1 - outcome.score) : outcome;
}

/** Mean over all weights of the first `count` scores. Both sums run in the same order, so all ones give exactly 1. */
function meanOf(children: readonly Child[], count: number): number {
  let sum = 0;
  let whole = 0;
  children.forEach(({ outcome, weight }, index) => {
    whole += weight;
    sum += index < count ? weight * scoreOf(outcome) : 0;
  });
  return sum / whole;
}
