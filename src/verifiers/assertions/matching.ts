/** Pairs of two collections, each item used once. */

/** Collections beyond this are compared by exact key only. */
export const MATCHING_LIMIT = 2_000;

/** How many items of `wanted` find an equal partner in `seen`, by key. Linear. */
export function matchByKey<T>(wanted: readonly T[], seen: readonly T[], key: (item: T) => string): number {
  const counts = new Map<string, number>();
  for (const item of seen) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  let matched = 0;
  for (const item of wanted) {
    const left = counts.get(key(item)) ?? 0;
    if (left === 0) continue;
    counts.set(key(item), left - 1);
    matched++;
  }
  return matched;
}

/**
 * Largest number of pairs where "equal" is not transitive (numbers within a tolerance): augmenting paths, so that the
 * order of the items never decides. At most `MATCHING_LIMIT` items a side.
 */
export function matchByRelation<T>(
  wanted: readonly T[],
  seen: readonly T[],
  equal: (a: T, b: T) => boolean,
): number {
  const partner = new Array<number>(seen.length).fill(-1);
  const augment = (from: number, tried: Uint8Array): boolean => {
    for (let to = 0; to < seen.length; to++) {
      if (tried[to] === 1 || !equal(wanted[from] as T, seen[to] as T)) continue;
      tried[to] = 1;
      const rival = partner[to] ?? -1;
      if (rival === -1 || augment(rival, tried)) {
        partner[to] = from;
        return true;
      }
    }
    return false;
  };
  let matched = 0;
  for (let from = 0; from < wanted.length; from++) if (augment(from, new Uint8Array(seen.length))) matched++;
  return matched;
}
