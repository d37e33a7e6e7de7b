/** Which replica and attempt of its task an imported episode is. */
import type { StoredEpisode } from "../types.js";
import type { BundleEpisode } from "./bundle-episode.js";

type Placed = Pick<StoredEpisode, "task" | "replica" | "attempt" | "status">;

/**
 * Gives each episode its place, in the order in which they began. An episode of a replica whose last attempt was not graded is the
 * next attempt at it; one of a replica that was graded, or of which nobody said which it is, is the next replica that is free.
 */
export function placed(there: readonly Placed[], coming: readonly BundleEpisode[]): StoredEpisode[] {
  const last = new Map<string, Placed>();
  const key = (task: string, replica: number): string => `${replica} ${task}`;
  for (const one of there) {
    const known = last.get(key(one.task, one.replica));
    if (known === undefined || known.attempt < one.attempt) last.set(key(one.task, one.replica), one);
  }
  const place = ({ began: _began, model: _model, ...one }: BundleEpisode, replica: number): StoredEpisode => {
    const attempt = (last.get(key(one.task, replica))?.attempt ?? -1) + 1;
    const stored = { ...one, replica, attempt };
    last.set(key(one.task, replica), stored);
    return stored;
  };
  const ordered = [...coming].sort((a, b) => a.began - b.began || (a.episode < b.episode ? -1 : 1));
  const found: StoredEpisode[] = [];
  const homeless: BundleEpisode[] = [];
  for (const one of ordered) {
    const taken = one.replica === null || last.get(key(one.task, one.replica))?.status === "graded";
    if (taken || one.replica === null) homeless.push(one);
    else found.push(place(one, one.replica));
  }
  // Only now: a free number may be that of a replica that says which it is.
  for (const one of homeless) {
    let replica = 0;
    while (last.has(key(one.task, replica))) replica += 1;
    found.push(place(one, replica));
  }
  return found;
}
