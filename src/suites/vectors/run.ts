/** Runs a file of vectors: inputs and outputs of published scorers, in lists by the scorer's name. */
import { ShinkenError } from "../../errors/index.js";
import { nearest } from "../../errors/nearest.js";
import { parseOrThrow } from "../../errors/parse.js";
import type { Profile } from "../scorer.js";
import { skipped, tables } from "./tables.js";

export interface Difference {
  scorer: string;
  /** Place in the scorer's list, from 0. */
  index: number;
  expected: unknown;
  got: unknown;
}

export interface VectorReport {
  /** Rows of the file: those that are equal, skipped and different. */
  total: number;
  equal: number;
  skipped: number;
  different: Difference[];
}

/** What came of each scorer's rows, in the file's order, for a table. */
export interface VectorTally {
  scorer: string;
  equal: number;
  skipped: number;
  different: number;
}

/**
 * Checks the whole file before anything is run.
 * @throws ShinkenError `bad_request` with path and suggestion
 */
export function runVectors(
  file: unknown,
  profile: Profile = "faithful",
): { report: VectorReport; tallies: VectorTally[] } {
  const lists = listsOf(file);
  const report: VectorReport = { total: 0, equal: 0, skipped: 0, different: [] };
  const tallies: VectorTally[] = [];
  for (const [scorer, rows] of lists) {
    const table = tables[scorer];
    const tally = { scorer, equal: 0, skipped: 0, different: 0 };
    for (const [index, row] of rows.entries()) {
      if (table === undefined) {
        tally.skipped++;
        continue;
      }
      const { expected, got } = table.run(row, profile);
      if (sameValue(expected, got)) tally.equal++;
      else {
        tally.different++;
        report.different.push({ scorer, index, expected, got: printable(got) });
      }
    }
    report.total += rows.length;
    report.equal += tally.equal;
    report.skipped += tally.skipped;
    tallies.push(tally);
  }
  return { report, tallies };
}

function listsOf(file: unknown): [scorer: string, rows: unknown[]][] {
  if (typeof file !== "object" || file === null || Array.isArray(file)) {
    throw new ShinkenError("bad_request", "the file holds no object of lists by scorer", {
      path: "",
      suggestion: 'it looks like {"gaia_question_scorer": [{"answer": "17", "gold": "17", "correct": true}]}',
    });
  }
  return Object.entries(file).map(([scorer, rows]) => {
    const known = Object.hasOwn(tables, scorer) ? tables[scorer] : undefined;
    if (known === undefined && !skipped.has(scorer)) throw unknownScorer(scorer);
    if (!Array.isArray(rows)) {
      throw new ShinkenError("bad_request", `${scorer}: expected a list of rows`, {
        path: scorer,
        suggestion: "every scorer's name stands before a list, also of one row",
      });
    }
    if (known === undefined) return [scorer, rows];
    return [scorer, rows.map((row, index) => parseRow(known.row, row, scorer, index))];
  });
}

function parseRow(
  schema: (typeof tables)[string]["row"],
  row: unknown,
  scorer: string,
  index: number,
): unknown {
  try {
    return parseOrThrow(schema, row, "bad_request", [scorer, index]);
  } catch (error) {
    if (!(error instanceof ShinkenError) || error.suggestion !== undefined) throw error;
    throw new ShinkenError("bad_request", error.message, {
      path: error.path,
      suggestion: `the fields of such a row are in docs/scorers.md, under ${scorer}`,
    });
  }
}

function unknownScorer(scorer: string): ShinkenError {
  const names = [...Object.keys(tables), ...skipped];
  const meant = nearest(scorer, names);
  return new ShinkenError("bad_request", `${scorer}: there are no vectors of this name`, {
    path: scorer,
    suggestion: meant === undefined ? `there are ${names.join(", ")}` : `did you mean "${meant}"?`,
  });
}

/** Python 3.12 sums fractions more exactly than those before: the last bits tell nothing about a scorer. */
const ROUNDING = 1e-12;

/** Whether two values of JSON are the same; fractions to twelve digits, whole numbers exactly. */
export function sameValue(expected: unknown, got: unknown): boolean {
  if (typeof expected === "number" && typeof got === "number") {
    if (expected === got || (Number.isInteger(expected) && Number.isInteger(got))) return expected === got;
    return Math.abs(expected - got) <= ROUNDING * Math.max(1, Math.abs(expected));
  }
  if (Array.isArray(expected) || Array.isArray(got)) {
    return (
      Array.isArray(expected) &&
      Array.isArray(got) &&
      expected.length === got.length &&
      expected.every((value, index) => sameValue(value, got[index]))
    );
  }
  if (!isObject(expected) || !isObject(got)) return expected === got;
  const names = Object.keys(expected);
  return (
    names.length === Object.keys(got).length &&
    names.every((name) => Object.hasOwn(got, name) && sameValue(expected[name], got[name]))
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** JSON has no infinity. */
function printable(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return value === undefined ? null : value;
}
