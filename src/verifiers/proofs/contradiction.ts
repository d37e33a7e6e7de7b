/** Demands that exclude each other: such a check can never pass, or its author meant something else. */
import { DateTime } from "luxon";
import type { DateAssertion } from "../assertions/date/schema.js";
import { spellingOf, unitNamed, unitNames } from "../assertions/quantity/units.js";
import { nearest } from "../../errors/nearest.js";
import type { Assertion, TableAssertion } from "../assertions/schema.js";
import { fault, type Path } from "./fault.js";

/** Proves that an assertion can hold. Throws `bad_task`. */
export function proveConsistent(assertion: Assertion, path: Path): void {
  switch (assertion.type) {
    case "text":
      proveText(assertion, path);
      break;
    case "number":
    case "quantity":
      if (assertion.type === "quantity") proveUnit(assertion.unit, path);
      proveNumber(assertion, path);
      break;
    case "date":
      proveFormats(assertion, path);
      break;
    case "list":
    case "set":
      proveItems(assertion, path);
      break;
    case "table":
      proveTable(assertion, path);
      break;
    case "json":
      if (assertion.exists === false) refuseBeside(assertion, ["equals", "subset", "schema", "length"], path);
      break;
  }
}

function refuseBeside(assertion: object, fields: readonly string[], path: Path): void {
  const other = fields.find((field) => (assertion as Record<string, unknown>)[field] !== undefined);
  if (other !== undefined)
    throw fault([...path, other], "what does not exist has no value: exists: false excludes it");
}

function proveUnit(unit: string | undefined, path: Path): void {
  if (unit === undefined || unitNamed(unit) !== undefined) return;
  const meant = spellingOf(unit) ?? nearest(unit, unitNames);
  const why = `"${unit}" is no unit (${unitNames.slice(0, 4).join(", ")}, ...) and no currency of three capitals`;
  throw fault([...path, "unit"], why, meant && `did you mean "${meant}"?`);
}

/** What equals takes for equal must reach into the bounds. */
function proveNumber(assertion: Extract<Assertion, { type: "number" | "quantity" }>, path: Path): void {
  const { equals, tolerance, relative_tolerance: relative, min, max, above, below } = assertion;
  if (typeof equals !== "number") return;
  const room = Math.max(tolerance, relative * Math.abs(equals));
  const excludes = {
    min: min !== undefined && equals + room < min,
    max: max !== undefined && equals - room > max,
    above: above !== undefined && equals + room <= above,
    below: below !== undefined && equals - room >= below,
  };
  for (const [bound, excluded] of Object.entries(excludes))
    if (excluded) throw fault([...path, bound], `excludes what equals wants (${equals})`);
}

/** A moment of which no part is the default of another. */
const SAMPLE = DateTime.fromISO("1987-06-05T07:08:09Z", { zone: "UTC" });

/**
 * Each format says all that the precision compares, the year above all: what a text leaves out would be taken from the host's clock.
 */
function proveFormats(assertion: DateAssertion, path: Path): void {
  const { formats, locale, precision } = assertion;
  formats.forEach((format, index) => {
    if (format === "iso") return;
    const options = { zone: "UTC", locale };
    const again = DateTime.fromFormat(SAMPLE.setLocale(locale).toFormat(format), format, options);
    if (again.isValid && +again.startOf(precision) === +SAMPLE.startOf(precision)) return;
    throw fault(
      [...path, "formats", index],
      `does not say the whole date by ${precision}, or is no format of Luxon's`,
    );
  });
}

function asList<T>(value: T | T[] | undefined): T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function proveText(assertion: Extract<Assertion, { type: "text" }>, path: Path): void {
  const contained = asList(assertion.contains);
  asList(assertion.excludes).forEach((part, index) => {
    const at = Array.isArray(assertion.excludes) ? [...path, "excludes", index] : [...path, "excludes"];
    if (contained.some((other) => other.includes(part)))
      throw fault(at, `${JSON.stringify(part)} is excluded and contained at once`);
    if (typeof assertion.equals === "string" && assertion.equals.includes(part))
      throw fault(at, `${JSON.stringify(part)} is excluded and stands in equals`);
  });
}

function proveItems(assertion: Extract<Assertion, { type: "list" | "set" }>, path: Path): void {
  const { contains, excludes, equals, length } = assertion;
  excludes?.forEach((item, index) => {
    const wanted = contains?.includes(item) === true || (Array.isArray(equals) && equals.includes(item));
    if (wanted)
      throw fault([...path, "excludes", index], `${JSON.stringify(item)} is excluded and wanted at once`);
  });
  if (!Array.isArray(equals)) return;
  contains?.forEach((item, index) => {
    if (!equals.includes(item))
      throw fault([...path, "contains", index], `${JSON.stringify(item)} is not among the items of equals`);
  });
  const whole = assertion.type === "list" || assertion.multiset;
  if (whole && length?.equals !== undefined && length.equals !== equals.length)
    throw fault([...path, "length"], `equals holds ${equals.length} items, not ${length.equals}`);
}

function proveTable(assertion: TableAssertion, path: Path): void {
  const { columns, rows, cells, key } = assertion;
  const width = columns?.length;
  if (columns !== undefined) refuseTwice(columns, [...path, "columns"]);
  if (Array.isArray(rows)) {
    rows.forEach((row, index) => {
      const wanted = width ?? rows[0]?.length ?? row.length;
      if (row.length !== wanted)
        throw fault([...path, "rows", index], `has ${row.length} cells, but ${wanted} are needed`);
    });
  }
  cells?.forEach(({ column }, index) => {
    const known =
      columns === undefined ||
      (typeof column === "string" ? columns.includes(column) : column < columns.length);
    if (known) return;
    const meant = typeof column === "string" ? nearest(column, columns) : undefined;
    const why = `there is no column ${JSON.stringify(column)}`;
    throw fault([...path, "cells", index, "column"], why, meant && `did you mean "${meant}"?`);
  });
  if (key === undefined) return;
  if (columns === undefined) throw fault([...path, "key"], "needs columns: they name the cells of rows");
  if (rows === undefined) throw fault([...path, "key"], "needs rows: it pairs them");
  refuseTwice(key, [...path, "key"]);
  key.forEach((name, index) => {
    if (columns.includes(name)) return;
    const meant = nearest(name, columns);
    const why = `there is no column ${JSON.stringify(name)}`;
    throw fault([...path, "key", index], why, meant && `did you mean "${meant}"?`);
  });
  if (!Array.isArray(rows)) return;
  const places = key.map((name) => columns.indexOf(name));
  const seen = new Set<string>();
  rows.forEach((row, index) => {
    const name = JSON.stringify(places.map((place) => row[place]));
    if (seen.has(name)) throw fault([...path, "rows", index], `the key ${name} stands twice`);
    seen.add(name);
  });
}

function refuseTwice(names: readonly string[], path: Path): void {
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice !== -1) throw fault([...path, twice], `${JSON.stringify(names[twice])} stands twice`);
}
