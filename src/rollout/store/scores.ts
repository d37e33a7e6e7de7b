import type { RunStore } from "./store.js";
import type { ScoreProvenance } from "./types.js";

/** Graded scores of a run by their task; a task whose replicas are all ungraded is there, with none. */
export function scoresByTask(
  store: RunStore,
  run: string,
  provenance: ScoreProvenance,
): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { task, score } of store.all<{ task: string; score: number | null }>(
    "SELECT task, score FROM scores WHERE run = @run AND provenance = @provenance ORDER BY task, replica",
    { run, provenance },
  )) {
    const scores = found.get(task) ?? [];
    if (score !== null) scores.push(score);
    found.set(task, scores);
  }
  return found;
}
