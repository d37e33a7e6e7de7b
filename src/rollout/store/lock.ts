/** Locks of runs: made of what tasks tell, and held against each other. */
import { createHash } from "node:crypto";
import { byTask, type RunLock } from "./types.js";

type Value = string | number | boolean | null;

/** A condition under which two runs were not played alike. */
export interface LockDifference {
  /** As in a lock, with names as on the wire; of a setting, `settings.NAME`. */
  field: string;
  /** Where it is one task's, and not the run's. */
  task: string | null;
  a: Value;
  b: Value;
}

/** One digest of what each task tells, whatever their order; the value itself where all tell the same, null where nobody tells any. */
export function digestByTask(told: Iterable<readonly [task: string, value: string | null]>): string | null {
  const pairs = [...told].sort(([a], [b]) => (a < b ? -1 : 1));
  const values = new Set(pairs.map(([, value]) => value));
  const [only = null] = values;
  if (values.size <= 1) return only;
  const hash = createHash("sha256").update("shinken-by-task");
  for (const [task, value] of pairs) hash.update(`\0${task}\0${value ?? ""}`);
  return hash.digest("hex");
}

/** What only a run that was planned tells. */
const plan: ReadonlySet<string> = new Set(["seed", "replicas"]);

/** What differs between two locks. Where one leaves it to its episodes (`byTask`), these are to be held against each other. */
export function lockDifferences(a: RunLock, b: RunLock): LockDifference[] {
  const [left, right] = [flat(a), flat(b)];
  const unplanned = a.verifier === byTask || b.verifier === byTask;
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((field) => {
    const [one, other] = [left[field] ?? null, right[field] ?? null];
    const untold = one === byTask || other === byTask || (unplanned && plan.has(field));
    return one === other || untold ? [] : [{ field, task: null, a: one, b: other }];
  });
}

/** A model stands under its own name alone: what operator and settings say of it as well would be told, and have to be allowed, thrice. */
function flat({ settings, taskSet, operator, ...rest }: RunLock): Record<string, Value> {
  const { model } = rest;
  const named = Object.entries(settings)
    .filter(([name, value]) => name !== "model" || value !== model)
    .map(([name, value]) => [`settings.${name}`, value] as const);
  const player = model === null ? operator : operator.replace(`:${model}`, "");
  return { task_set: taskSet, ...rest, operator: player, ...Object.fromEntries(named) };
}
