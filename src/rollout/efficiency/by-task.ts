/** What belongs to each task, in the order in which it came. */
export function byTaskOf<T extends { task: string }>(all: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const known = groups.get(one.task);
    if (known === undefined) groups.set(one.task, [one]);
    else known.push(one);
  }
  return groups;
}
