/**
 * Names in expected data: plain ones, patterns (`^...$`, `$.^...$`), and the paths that the task set uses: `$.a[0].b`,
 * `$['a'][?(@.b == 1)].c`.
 */
import { isJsonObject, type Json, type JsonObject } from "../../verifiers/assertions/json-value.js";
import { isPattern } from "./values/text.js";

type Step = { field: string } | { index: number } | { where: { field: string; equals: Json } };

export type PathName = { name: string } | { pattern: RegExp } | { steps: readonly Step[]; filtered: boolean };

const step =
  /^(?:\.([A-Za-z_][\w-]*)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]|\[\?\(\s*@\.([A-Za-z_]\w*)\s*==\s*(-?\d+(?:\.\d+)?|'[^']*'|"[^"]*"|true|false|null)\s*\)\])/;

/** How a name is read; undefined where it is a path of a kind that is not known here. */
export function readPath(name: string): PathName | undefined {
  const pattern = name.startsWith("$.^") && name.endsWith("$") ? name.slice(2) : name;
  if (isPattern(pattern)) {
    try {
      return { pattern: new RegExp(`^(?:${pattern})`) };
    } catch {
      return undefined;
    }
  }
  if (!name.startsWith("$")) return { name };
  const steps: Step[] = [];
  let rest = name.slice(1);
  while (rest !== "") {
    const found = step.exec(rest);
    if (found === null) return undefined;
    steps.push(stepOf(found));
    rest = rest.slice(found[0].length);
  }
  return { steps, filtered: steps.some((one) => "where" in one) };
}

function stepOf([, field, index, single, double, filter, wanted]: RegExpExecArray): Step {
  if (index !== undefined) return { index: Number(index) };
  if (filter === undefined) return { field: field ?? single ?? double ?? "" };
  const literal =
    wanted?.startsWith("'") === true ? wanted.slice(1, -1) : (JSON.parse(wanted ?? "null") as Json);
  return { where: { field: filter, equals: literal } };
}

/** The value at a path, a list of all of them where it filters or finds several, and null where it finds none. */
export function valueAt(data: JsonObject, path: PathName): Json {
  if ("name" in path) return Object.hasOwn(data, path.name) ? (data[path.name] ?? null) : null;
  if ("pattern" in path) {
    return oneOrAll(
      Object.keys(data)
        .filter((name) => path.pattern.test(name))
        .map((name) => data[name] ?? null),
    );
  }
  const direct = follow(data, path.steps);
  // Fields of a form may hold JSON as text.
  const found = direct.length > 0 ? direct : follow(unfolded(data), path.steps);
  return path.filtered && found.length > 0 ? found : oneOrAll(found);
}

const oneOrAll = (found: Json[]): Json => (found.length > 1 ? found : (found[0] ?? null));

function follow(data: Json, steps: readonly Step[]): Json[] {
  return steps.reduce<Json[]>((values, one) => values.flatMap((value) => next(value, one)), [data]);
}

function next(value: Json, one: Step): Json[] {
  if ("field" in one)
    return isJsonObject(value) && Object.hasOwn(value, one.field) ? [value[one.field] ?? null] : [];
  if ("index" in one)
    return Array.isArray(value) && one.index < value.length ? [value[one.index] ?? null] : [];
  const { field, equals } = one.where;
  const items = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  return items.filter(
    (item) => isJsonObject(item) && Object.hasOwn(item, field) && sameLiteral(item[field], equals),
  );
}

/** True is 1, as where the paths were published. */
const sameLiteral = (value: Json | undefined, wanted: Json): boolean =>
  (typeof value === "boolean" ? Number(value) : value) ===
  (typeof wanted === "boolean" ? Number(wanted) : wanted);

function unfolded(value: Json): Json {
  if (Array.isArray(value)) return value.map(unfolded);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [
      name,
      typeof held === "string" ? parsed(held) : unfolded(held),
    ]),
  );
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
