/** Under which conditions two runs were played: what their locks tell, and what the episodes of their common tasks tell. */
import { ShinkenError } from "../../errors/index.js";
import { nearest } from "../../errors/nearest.js";
import { type LockDifference, lockDifferences } from "./lock.js";
import type { RunStore } from "./store.js";
import type { RunInfo, ScoreProvenance } from "./types.js";

/** A run as one side of a comparison. */
export interface Side {
  run: RunInfo;
  provenance: ScoreProvenance;
}

/** What an episode tells of its task. `graded_by`: of verdicts that were given later, the program that gave them. */
const taskFields = ["task_version", "verifier", "image", "golden", "variant", "graded_by"] as const;
type TaskField = (typeof taskFields)[number];

/** Names that differences may have. */
const lockFields = [
  "task_set",
  "verifier",
  "image",
  "golden",
  "runtime",
  "operator",
  "scaffold",
  "model",
  "revision",
  "seed",
  "replicas",
  "settings",
  "provenance",
] as const;
const fields: readonly string[] = [...new Set([...lockFields, ...taskFields])];

/** Everything that differs, that of the runs before that of their tasks. */
export function differencesOf(store: RunStore, a: Side, b: Side): LockDifference[] {
  const sides = [a, b];
  // The lock tells the verifiers that the run was played with, and these gave none of the scores.
  const regraded = sides.some(({ provenance }) => provenance === "regraded");
  const provenance =
    a.provenance === b.provenance
      ? []
      : [{ field: "provenance", task: null, a: a.provenance, b: b.provenance }];
  const locks = lockDifferences(a.run.lock, b.run.lock).filter(
    ({ field }) => !(regraded && field === "verifier"),
  );
  const [left, right] = [toldByTask(store, a), toldByTask(store, b)];
  const tasks = [...left].flatMap(([task, told]) => {
    const other = right.get(task);
    return other === undefined
      ? []
      : taskFields
          .filter((field) => told[field] !== other[field])
          .map((field) => ({ field, task, a: told[field], b: other[field] }));
  });
  return [...provenance, ...locks, ...tasks];
}

/** Of replicas that tell several values, all of them. */
function toldByTask(
  store: RunStore,
  { run, provenance }: Side,
): Map<string, Record<TaskField, string | null>> {
  const rows = store.all<Record<TaskField, string | null> & { task: string }>(
    `SELECT DISTINCT task, task_version, verifier, image, golden, variant,
        CASE WHEN provenance = 'regraded' THEN runtime END AS graded_by
      FROM scores WHERE run = @run AND provenance = @provenance`,
    { run: run.id, provenance },
  );
  return new Map(
    [...new Set(rows.map(({ task }) => task))].map((task) => {
      const told = rows.filter((row) => row.task === task);
      const all = taskFields.map((field) => {
        const values = [...new Set(told.map((row) => row[field]).filter((value) => value !== null))];
        return [field, values.length === 0 ? null : values.sort().join(", ")];
      });
      return [task, Object.fromEntries(all) as Record<TaskField, string | null>];
    }),
  );
}

/** Whether a difference was allowed by name. `settings` allows every setting, `all` everything. */
export function isAllowed({ field }: LockDifference, allowed: ReadonlySet<string>): boolean {
  return (
    allowed.has("all") || allowed.has(field) || (field.startsWith("settings.") && allowed.has("settings"))
  );
}

/** Takes names as a user wrote them. @throws ShinkenError `bad_request` for one that no difference has */
export function allowedFields(names: readonly string[]): Set<string> {
  for (const name of names) {
    if (name === "all" || fields.includes(name) || name.startsWith("settings.")) continue;
    const meant = nearest(name, [...fields, "all"]);
    throw new ShinkenError("bad_request", `no lock has a field "${name}"`, {
      path: "--allow-different",
      suggestion: meant === undefined ? `fields are ${fields.join(", ")}` : `did you mean "${meant}"?`,
    });
  }
  return new Set(names);
}
