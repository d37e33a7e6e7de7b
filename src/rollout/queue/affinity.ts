/** Which job a node is given. */

/** A job that might be next. */
export interface Candidate {
  golden: string | null;
  /** Since when it waits, Unix milliseconds. */
  sinceMs: number;
}

/** Waiting jobs of the highest priority that are looked at, the oldest ones. */
export const affinityWindow = 64;
/** A job that has waited so long goes next, whoever asks. */
export const patienceMs = 30_000;

/**
 * Index of the job that a node is given, of candidates of one priority, the oldest first; -1 if there are none. The oldest, once it has waited
 * for `patienceMs`; else the oldest one whose golden this node holds; else the oldest one that no other node holds the golden of, so
 * that one of them need not fetch what the other has; else the oldest. A node that asks is never sent away while a job
 * waits, so affinity costs nobody more than the jobs of one window and `patienceMs`.
 */
export function preferred(
  candidates: readonly Candidate[],
  mine: ReadonlySet<string>,
  others: ReadonlySet<string>,
  now: number,
): number {
  const [oldest] = candidates;
  if (oldest === undefined) return -1;
  if (now - oldest.sinceMs >= patienceMs) return 0;
  const held = candidates.findIndex(({ golden }) => golden !== null && mine.has(golden));
  if (held >= 0) return held;
  const free = candidates.findIndex(({ golden }) => golden === null || !others.has(golden));
  return Math.max(free, 0);
}

/** Goldens of one node, and of all others. */
export function heldBy(
  node: string,
  notices: readonly { node: string; goldens: readonly string[] }[],
): { mine: Set<string>; others: Set<string> } {
  const [mine, others] = [new Set<string>(), new Set<string>()];
  for (const notice of notices)
    for (const golden of notice.goldens) (notice.node === node ? mine : others).add(golden);
  return { mine, others };
}
