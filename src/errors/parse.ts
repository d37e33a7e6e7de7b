/**
 * Parsing at the edge: a zod schema's complaints become one `ShinkenError` that names the place and, for a misspelt
 * key or value, what was probably meant.
 */
import type { z } from "zod";
import { ShinkenError } from "./index.js";
import { nearest } from "./nearest.js";
import type { ErrorCode } from "./table.js";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Writes a path as an author reads it: `verify.graph.all[2].assert`. */
export function formatPath(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += (text === "" ? "" : ".") + String(part);
  }
  return text;
}

/**
 * Parses `value`, or throws a `ShinkenError` of the given code.
 * @param root path that stands before the schema's own paths
 */
export function parseOrThrow<T extends z.ZodType>(
  schema: T,
  value: unknown,
  code: ErrorCode,
  root: Path = [],
): z.output<T> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  throw refusal(schema, value, result.error.issues, code, root);
}

/**
 * What is wrong with a value of which some places are still open: complaints about these, about what holds them and about
 * what is in them do not count. Undefined where nothing else is amiss.
 */
export function faultsBut(
  schema: z.ZodType,
  value: unknown,
  open: readonly Path[],
  code: ErrorCode,
  root: Path = [],
): ShinkenError | undefined {
  const result = schema.safeParse(value, { reportInput: true });
  const issues = (result.error?.issues ?? []).filter(
    ({ code: kind, path }) =>
      !open.some((place) =>
        // An unknown key beside an open place is one all the same.
        path.length < place.length && kind === "unrecognized_keys"
          ? false
          : path.every((part, index) => index >= place.length || part === place[index]),
      ),
  );
  return issues.length === 0 ? undefined : refusal(schema, value, issues, code, root);
}

function refusal(
  schema: z.ZodType,
  value: unknown,
  issues: readonly Issue[],
  code: ErrorCode,
  root: Path,
): ShinkenError {
  const issue = mostTelling(issues);
  const path = [...root, ...issue.path];
  const discriminator = missingDiscriminator(issue);
  if (discriminator !== undefined)
    return withoutDiscriminator(discriminator, path, valueAt(value, issue.path.slice(0, -1)), code);
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const meant = nearest(key, keysAt(schema, issue.path, value));
    return new ShinkenError(code, `${formatPath([...path, key])}: there is no field of this name`, {
      path: formatPath([...path, key]),
      suggestion: meant === undefined ? undefined : `did you mean "${meant}"?`,
    });
  }
  return new ShinkenError(code, `${formatPath(path) || "the document"}: ${describe(issue)}`, {
    path: formatPath(path),
    suggestion: valueSuggestion(issue, valueAt(value, issue.path)),
  });
}

function describe(issue: Issue): string {
  if (
    issue.code === "invalid_type" &&
    issue.input === undefined &&
    /received undefined/.test(issue.message)
  ) {
    return `missing (expected ${issue.expected})`;
  }
  return issue.message;
}

function valueSuggestion(issue: Issue, value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  let valid: string[] = [];
  if (issue.code === "invalid_value") valid = issue.values.map(String);
  else if (issue.code === "invalid_union" && "options" in issue)
    valid = (issue.options as unknown[]).map(String);
  const meant = nearest(value, valid);
  return meant === undefined ? undefined : `did you mean "${meant}"?`;
}

/** The field that chooses among a union's branches, if it is what the input lacks. */
function missingDiscriminator(issue: Issue): string | undefined {
  if (issue.code !== "invalid_union" || !("discriminator" in issue)) return undefined;
  return issue.input === undefined || typeof issue.input !== "object"
    ? undefined
    : absentIn(issue.input, issue.discriminator);
}

function absentIn(input: unknown, field: unknown): string | undefined {
  return typeof field === "string" && input !== null && !Object.hasOwn(input as object, field)
    ? field
    : undefined;
}

function withoutDiscriminator(field: string, path: Path, input: unknown, code: ErrorCode): ShinkenError {
  const given = typeof input === "object" && input !== null ? Object.keys(input) : [];
  const misspelt = given.find((key) => nearest(key, [field]) !== undefined);
  if (misspelt === undefined) {
    return new ShinkenError(code, `${formatPath(path)}: missing`, { path: formatPath(path) });
  }
  const at = formatPath([...path.slice(0, -1), misspelt]);
  return new ShinkenError(code, `${at}: there is no field of this name`, {
    path: at,
    suggestion: `did you mean "${field}"?`,
  });
}

/** Of several complaints the one to show: an unknown key explains the missing key beside it. */
function mostTelling(issues: readonly Issue[]): Issue {
  const flat = issues.map(insideUnion);
  const unknown = flat.find((issue) => issue.code === "unrecognized_keys");
  const first = unknown ?? flat[0];
  if (first === undefined) throw new Error("a failed parse reports at least one issue");
  return first;
}

/** Replaces a union's complaint by that of the branch that comes closest to the input. */
function insideUnion(issue: Issue): Issue {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return issue;
  const lacking = issue.errors.map(onlyMissingKey);
  if (lacking.every((key) => key !== undefined)) {
    return { ...issue, message: `needs one of ${lacking.join(", ")}`, errors: [] };
  }
  let best: Issue[] | undefined;
  let bestCost = [0, Number.POSITIVE_INFINITY];
  for (const branch of issue.errors) {
    const depth = -Math.min(
      ...branch.map((inner) => inner.path.length - (missingDiscriminator(inner) === undefined ? 0 : 1)),
    );
    const cost = branch.reduce((sum, inner) => sum + faults(inner), 0);
    if (
      best === undefined ||
      depth < (bestCost[0] ?? 0) ||
      (depth === bestCost[0] && cost < (bestCost[1] ?? 0))
    ) {
      best = branch;
      bestCost = [depth, cost];
    }
  }
  const inner = mostTelling(best ?? []);
  return { ...inner, path: [...issue.path, ...inner.path] };
}

/** The key that a branch lacks, if that is all that is wrong with the input. */
function onlyMissingKey(branch: readonly Issue[]): string | undefined {
  const [issue] = branch;
  const missing = branch.length === 1 && issue?.path.length === 1 && issue.input === undefined;
  return missing && issue.code !== "unrecognized_keys" ? String(issue.path[0]) : undefined;
}

/** An input that lacks the discriminator is rather meant for another branch, unless that one knows few of its keys. */
const MISSING_DISCRIMINATOR_COST = 3;

function faults(issue: Issue): number {
  if (missingDiscriminator(issue) !== undefined) return MISSING_DISCRIMINATOR_COST;
  return issue.code === "unrecognized_keys" ? issue.keys.length : 1;
}

function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = (current as Record<PropertyKey, unknown>)[part];
  }
  return current;
}

/** Keys that the schema knows at a path of the input, over all branches of the unions on the way. */
function keysAt(schema: z.ZodType, path: Path, value: unknown): Set<string> {
  let reached: z.core.$ZodType[] = unfold(schema);
  for (const part of path) reached = reached.flatMap((one) => unfold(step(one, part)));
  const present = valueAt(value, path);
  const given = typeof present === "object" && present !== null ? Object.keys(present) : [];
  const keys = new Set<string>();
  for (const one of reached) for (const key of Object.keys(shapeOf(one) ?? {})) keys.add(key);
  for (const key of given) keys.delete(key);
  return keys;
}

type Definition = {
  type: string;
  shape?: Record<string, z.core.$ZodType>;
  element?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
  innerType?: z.core.$ZodType;
  options?: z.core.$ZodType[];
  getter?: () => z.core.$ZodType;
  in?: z.core.$ZodType;
  out?: z.core.$ZodType;
};

function definition(schema: z.core.$ZodType): Definition {
  return schema._zod.def;
}

function shapeOf(schema: z.core.$ZodType): Record<string, z.core.$ZodType> | undefined {
  return definition(schema).shape;
}

function step(schema: z.core.$ZodType, part: PropertyKey): z.core.$ZodType | undefined {
  const def = definition(schema);
  return def.shape?.[String(part)] ?? def.element ?? def.valueType;
}

/** The schemas that can stand at this place once wrappers and unions are opened. */
function unfold(schema: z.core.$ZodType | undefined): z.core.$ZodType[] {
  if (schema === undefined) return [];
  const def = definition(schema);
  if (def.options !== undefined) return def.options.flatMap(unfold);
  if (def.innerType !== undefined) return unfold(def.innerType);
  if (def.getter !== undefined) return unfold(def.getter());
  // What comes first in a pipe is what the author writes, but for a look at the raw value.
  if (def.type === "pipe")
    return unfold(def.in !== undefined && definition(def.in).type === "transform" ? def.out : def.in);
  return [schema];
}
