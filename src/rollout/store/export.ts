/** Runs as a table for other programs: a row for each verdict on each attempt, with the conditions of its run. */
import { zstdReady } from "../../replay/format/zstd.js";
import type { Columns, Row } from "../../replay/export/columns.js";
import { containerOf, containers } from "../../replay/export/sinks.js";
import type { RunStore } from "./store.js";

export const runColumns = {
  run: "text",
  source: "text",
  run_status: "text",
  began_ms: "int",
  task_set: "text",
  operator: "text",
  scaffold: "text",
  model: "text",
  revision: "text",
  run_seed: "int",
  settings: "json",
  run_labels: "json",
  episode: "text",
  task: "text",
  task_version: "text",
  variant: "text",
  params: "json",
  replica: "int",
  attempt: "int",
  counts: "bool",
  seed: "int",
  image: "text",
  golden: "text",
  file: "text",
  sha256: "text",
  milestones: "json",
  reward: "float",
  steps: "int",
  truncated: "bool",
  ready_ms: "float",
  reset_ms: "float",
  step_ms: "json",
  operator_ms: "json",
  evaluate_ms: "float",
  tokens_in: "int",
  tokens_out: "int",
  model_ms: "float",
  guest_ms: "float",
  harness_ms: "float",
  judge_ms: "float",
  dollars: "float",
  account: "json",
  episode_labels: "json",
  provenance: "text",
  verifier: "text",
  runtime: "text",
  by: "text",
  status: "text",
  score: "float",
  passed: "bool",
  reason: "text",
  verdict: "json",
} as const satisfies Columns;

/** `counts`: whether this attempt is its replica's last, which alone counts. */
const query = `
SELECT e.*, r.run, r.source, r.status AS run_status, r.began_ms, r.task_set, r.operator, r.scaffold, r.model, r.revision,
  r.seed AS run_seed, r.settings, r.labels AS run_labels, e.labels AS episode_labels,
  e.seq IN (SELECT seq FROM last_attempts WHERE run = e.run) AS counts,
  v.provenance, v.verifier, v.runtime, v.by, v.status, v.score, v.passed, v.reason, v.verdict
FROM episodes AS e JOIN run_list AS r USING (run) JOIN verdicts AS v USING (episode)
WHERE e.run = @run ORDER BY e.seq, v.seq`;

/**
 * Writes the verdicts of runs to a file whose ending says how: .parquet or .jsonl. Gives rows and bytes. Rejects with `bad_request`
 * for another ending or a place that cannot be written to, and with `disk_full`.
 */
export async function exportRuns(
  store: RunStore,
  runs: readonly string[],
  to: string,
): Promise<{ rows: number; bytes: number }> {
  await zstdReady;
  const sink = containers[containerOf(to)](to, runColumns);
  let rows = 0;
  try {
    for (const run of runs)
      for (const row of store.each(query, { run })) {
        sink.add(typed(row));
        rows += 1;
      }
    return { rows, bytes: sink.finish() };
  } catch (error) {
    sink.discard();
    throw error;
  }
}

/** SQLite has no truth values. */
function typed(row: Row): Row {
  const truth = (value: unknown): boolean | null => (value === null ? null : value === 1);
  return {
    ...row,
    counts: truth(row["counts"]),
    truncated: truth(row["truncated"]),
    passed: truth(row["passed"]),
  };
}
