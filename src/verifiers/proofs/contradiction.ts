/** Demands that exclude each other: such a check can never pass, or its author meant something else. */
import type { Assertion, TableAssertion } from "../assertions/schema.js";
import { fault, type Path } from "./fault.js";

/** Proves that an assertion can hold. Throws `bad_task`. */
export function proveConsistent(assertion: Assertion, path: Path): void {
  switch (assertion.type) {
    case "text":
      proveText(assertion, path);
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
    if (!known)
      throw fault([...path, "cells", index, "column"], `there is no column ${JSON.stringify(column)}`);
  });
  if (key === undefined) return;
  if (columns === undefined) throw fault([...path, "key"], "needs columns: they name the cells of rows");
  if (rows === undefined) throw fault([...path, "key"], "needs rows: it pairs them");
  refuseTwice(key, [...path, "key"]);
  key.forEach((name, index) => {
    if (!columns.includes(name))
      throw fault([...path, "key", index], `there is no column ${JSON.stringify(name)}`);
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
