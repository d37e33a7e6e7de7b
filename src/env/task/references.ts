/**
 * Filling parameters in. Anywhere a value stands, `{param: name}` (or `{param: record.field}`) is replaced by the
 * whole typed value; only the instruction is a template, `{{name}}`. Nothing is ever pasted into a command.
 */
import { nearest } from "../../errors/nearest.js";
import { ShinkenError } from "../../errors/index.js";
import { formatPath } from "../../errors/parse.js";
import type { ParamScalar, ParamValue, ParamValues } from "./params.js";

type Path = (string | number)[];

/** Parts of a task in which a reference may stand. */
export const PARAMETRIC = ["setup", "ready", "services", "verify", "oracle", "mutations"];
/** Fields that are programs in a language of their own: a parameter reaches them by binding, never as text. */
export const LITERAL_FIELDS: ReadonlySet<string> = new Set([
  "sql",
  "matches",
  "pattern",
  "id",
  "needs",
  "flips",
  "channel",
  "scorer",
  "kind",
  "type",
]);
const TEMPLATE = /\{\{\s*([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?)\s*\}\}/g;

function badTask(path: Path, why: string, suggestion?: string): ShinkenError {
  const at = formatPath(path);
  return new ShinkenError("bad_task", `${at}: ${why}`, { path: at, suggestion });
}

function lookUp(reference: string, values: ParamValues, path: Path): ParamValue {
  const [name = "", field, ...rest] = reference.split(".");
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined || rest.length > 0) {
    const meant = nearest(name, Object.keys(values));
    throw badTask(path, `there is no parameter "${reference}"`, meant && `did you mean "${meant}"?`);
  }
  if (field === undefined) return value;
  if (typeof value !== "object" || !Object.hasOwn(value, field)) {
    const meant = typeof value === "object" ? nearest(field, Object.keys(value)) : undefined;
    throw badTask(
      path,
      `parameter "${name}" has no field "${field}"`,
      meant && `did you mean "${name}.${meant}"?`,
    );
  }
  return value[field] as ParamScalar;
}

/** Fields whose value is any JSON: the names of fields inside are the author's own. */
const FREE_FIELDS = new Set<string | number>(["oracle", "json", "equals", "subset", "bind", "env"]);

/** True inside a value of the author's making; a second query inside an expected value is the format's again. */
function isFree(path: Path): boolean {
  return path.findLastIndex((part) => FREE_FIELDS.has(part)) > path.lastIndexOf("from");
}

function fill(node: unknown, values: ParamValues, path: Path): unknown {
  if (typeof node === "string") return refuseTemplate(node, values, path);
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map((item, index) => fill(item, values, [...path, index]));
  const entries = Object.entries(node);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined) {
    if (only[0] === "literal") return node;
    if (only[0] === "param") {
      if (typeof only[1] !== "string") throw badTask([...path, "param"], "must be the name of a parameter");
      const holder = path.findLast((part) => typeof part === "string");
      if (typeof holder === "string" && LITERAL_FIELDS.has(holder) && !isFree(path)) {
        throw badTask(path, `"${holder}" takes no parameter`, holder === "sql" ? "use bind" : undefined);
      }
      return lookUp(only[1], values, [...path, "param"]);
    }
  }
  return Object.fromEntries(entries.map(([key, value]) => [key, fill(value, values, [...path, key])]));
}

function refuseTemplate(text: string, values: ParamValues, path: Path): string {
  for (const match of text.matchAll(TEMPLATE)) {
    if (Object.hasOwn(values, (match[1] ?? "").split(".")[0] ?? "")) {
      throw badTask(path, "templates are for the instruction only", `use {param: ${match[1]}}`);
    }
  }
  return text;
}

function fillTemplate(text: string, values: ParamValues): string {
  return text.replace(TEMPLATE, (_, reference: string) => {
    const value = lookUp(reference, values, ["instruction"]);
    if (typeof value === "object")
      throw badTask(["instruction"], `"${reference}" is a record; name one of its fields`);
    return String(value);
  });
}

/** The document of a task with every reference replaced. Throws `bad_task` for a reference to nothing. */
export function fillParams(document: Record<string, unknown>, values: ParamValues): Record<string, unknown> {
  const filled: Record<string, unknown> = { ...document };
  for (const part of PARAMETRIC) {
    if (Object.hasOwn(document, part)) filled[part] = fill(document[part], values, [part]);
  }
  if (typeof document.instruction === "string")
    filled.instruction = fillTemplate(document.instruction, values);
  return filled;
}

/** Names of parameters that the document uses, without their fields. */
export function usedParams(document: Record<string, unknown>): Set<string> {
  const used = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const entries = Object.entries(node);
    if (entries.length === 1 && entries[0]?.[0] === "param" && typeof entries[0][1] === "string") {
      used.add(entries[0][1].split(".")[0] ?? "");
      return;
    }
    for (const [, value] of entries) walk(value);
  };
  for (const part of PARAMETRIC) walk(document[part]);
  if (typeof document.instruction === "string") {
    for (const match of document.instruction.matchAll(TEMPLATE))
      used.add((match[1] ?? "").split(".")[0] ?? "");
  }
  return used;
}
