/**
 * What an author can get wrong in a query, told before a database is there: it is one statement that only reads, the same
 * state gives the same answer for ever, and every parameter has its value. Names of tables are the database's matter.
 */
import { nearest } from "../../../errors/nearest.js";
import { columnsFrom } from "./columns.js";
import { type Token, tokensOf } from "./tokens.js";

export type Bind = (string | number | null)[] | Record<string, string | number | null>;

export interface StatementFault {
  /** Below the query. */
  path: (string | number)[];
  why: string;
  suggestion?: string | undefined;
}

const READS = ["select", "values"];
const WRITES = ["insert", "update", "delete"];
const VERBS = [...READS, "with", ...WRITES, "replace"];
const DATES = ["date", "time", "datetime", "julianday", "strftime", "unixepoch", "timediff"];
/** Their values as `date(...)` takes them: the first three are the present, the others the host's time zone. */
const PRESENT = ["now", "subsec", "subsecond"];
const ZONE = ["localtime", "utc"];

export interface Statement {
  sql: string;
  bind?: Bind | undefined;
  kind: "number" | "text" | "column" | "table";
}

/** The first thing that is wrong with a query whatever the database holds, or undefined. */
export function statementFault({ sql, bind, kind }: Statement): StatementFault | undefined {
  const all = tokensOf(sql);
  if (typeof all === "string") return { path: ["sql"], why: `the query ${all}` };
  const end = all.findIndex(({ text, kind }) => kind === "mark" && text === ";");
  const tokens = end < 0 ? all : all.slice(0, end);
  const more = end >= 0 && all.slice(end).some((token) => token.text !== ";" || token.kind !== "mark");
  if (more) return { path: ["sql"], why: "the query holds more than one statement" };
  return (
    formFault(tokens) ??
    clockFault(tokens) ??
    bindFault(parametersOf(tokens), bind) ??
    (kind === "table" ? undefined : columnsFault(tokens))
  );
}

function formFault(tokens: readonly Token[]): StatementFault | undefined {
  const [first] = tokens;
  if (first === undefined) return { path: ["sql"], why: "the query holds no statement" };
  const start = verbAt(tokens);
  const verb = tokens[start]?.text;
  if (verb === undefined || !READS.includes(verb)) {
    const meant = first.kind === "word" ? nearest(first.text, VERBS) : undefined;
    const wrong = verb === undefined || VERBS.includes(verb) ? (verb ?? first.text) : first.text;
    return {
      path: ["sql"],
      why: `the query is no SELECT: it says ${wrong.toUpperCase()}`,
      suggestion:
        meant === undefined || meant === first.text ? undefined : `did you mean ${meant.toUpperCase()}?`,
    };
  }
  const depth = depths(tokens);
  if (depth.some((one) => one < 0) || depth.at(-1) !== 0)
    return { path: ["sql"], why: "the query's parentheses do not match" };
  return undefined;
}

/** A single value or list is of one column. */
function columnsFault(tokens: readonly Token[]): StatementFault | undefined {
  const columns = columnsFrom(tokens, depths(tokens), verbAt(tokens)) ?? 1;
  if (columns === 1) return undefined;
  return {
    path: ["sql"],
    why: `the query returns ${columns} columns instead of 1`,
    suggestion: 'the kind "table" takes any number',
  };
}

/** Where the word stands that tells what the statement does: of one that begins with WITH, after its tables. -1: nowhere. */
function verbAt(tokens: readonly Token[]): number {
  const [first] = tokens;
  if (first?.kind !== "word") return -1;
  if (first.text !== "with") return 0;
  const depth = depths(tokens);
  return tokens.findIndex(({ kind, text }, index) => {
    if (kind !== "word" || depth[index] !== 0) return false;
    // REPLACE may also name a table.
    return (
      READS.includes(text) ||
      WRITES.includes(text) ||
      (text === "replace" && tokens[index + 1]?.text === "into")
    );
  });
}

/** How many parentheses are open after each token. */
function depths(tokens: readonly Token[]): number[] {
  let depth = 0;
  return tokens.map((token) => {
    if (isMark(token, "(")) depth++;
    if (isMark(token, ")")) depth--;
    return depth;
  });
}

const isMark = (token: Token | undefined, text: string): boolean =>
  token?.kind === "mark" && token.text === text;

/** A graded state is graded alike for ever: nothing that differs from one day, host or run to the next. */
function clockFault(tokens: readonly Token[]): StatementFault | undefined {
  for (const [index, token] of tokens.entries()) {
    const word = token.kind === "name" ? token.text.slice(1, -1).toLowerCase() : token.text;
    const what = token.kind === "word" || token.kind === "name" ? variesAt(tokens, index, word) : undefined;
    if (what !== undefined) {
      return {
        path: ["sql"],
        why: `the query asks for ${what}, which differs from one grading to the next`,
        suggestion: "write the time or value that is meant, or bind it",
      };
    }
  }
  return undefined;
}

function variesAt(tokens: readonly Token[], index: number, word: string): string | undefined {
  const { kind } = tokens[index] as Token;
  if (isMark(tokens[index - 1], ".")) return undefined;
  if (kind === "word" && /^current_(date|time|timestamp)$/.test(word)) return word;
  if (!isMark(tokens[index + 1], "(")) return undefined;
  if (word === "random" || word === "randomblob") return `${word}()`;
  if (!DATES.includes(word)) return undefined;
  const given = argumentsAt(tokens, index + 1);
  if (given.length < (word === "strftime" ? 2 : 1)) return `${word}() of the present`;
  const words = given.flatMap((one) => (one.length === 1 && one[0]?.kind === "string" ? [one[0].text] : []));
  const told = words.map((one) => one.toLowerCase());
  if (told.some((one) => ZONE.includes(one))) return `${word}() in the host's time zone`;
  const times = word === "timediff" ? [0, 1] : [word === "strftime" ? 1 : 0];
  const present = times.some((at) => {
    const [only, ...rest] = given[at] ?? [];
    return only?.kind === "string" && rest.length === 0 && PRESENT.includes(only.text.toLowerCase());
  });
  return present ? `${word}() of the present` : undefined;
}

/** The tokens of each argument of a call whose parenthesis opens at `open`. */
function argumentsAt(tokens: readonly Token[], open: number): Token[][] {
  const given: Token[][] = [];
  let depth = 0;
  for (const token of tokens.slice(open + 1)) {
    if (depth === 0 && isMark(token, ")")) break;
    if (isMark(token, "(")) depth++;
    if (isMark(token, ")")) depth--;
    if (given.length === 0 || (depth === 0 && isMark(token, ","))) given.push([]);
    if (depth > 0 || !isMark(token, ",")) given.at(-1)?.push(token);
  }
  return given;
}

/** Name or undefined of every parameter, by its number from 1: SQLite counts a repeated name once. */
function parametersOf(tokens: readonly Token[]): (string | undefined)[] {
  const found: (string | undefined)[] = [];
  for (const { kind, text } of tokens) {
    if (kind !== "parameter") continue;
    if (text === "?") found.push(undefined);
    else if (text.startsWith("?"))
      found.length = Math.max(found.length, Math.min(Number(text.slice(1)), 32_766));
    else if (!found.includes(text)) found.push(text);
  }
  return found;
}

/** A field of `bind` as the statement names it. */
export const parameterName = (name: string): string => (/^[:@$]/.test(name) ? name : `:${name}`);

function bindFault(parameters: (string | undefined)[], bind: Bind | undefined): StatementFault | undefined {
  if (bind === undefined || Array.isArray(bind)) {
    const given = bind?.length ?? 0;
    if (given === parameters.length) return undefined;
    return {
      path: ["bind"],
      why: `the query has ${parameters.length} parameters and ${given} values`,
    };
  }
  const names = [...new Set(parameters)].filter((name) => name !== undefined);
  if (names.length !== parameters.length)
    return { path: ["bind"], why: "the query has parameters without a name; bind a list" };
  const given = Object.keys(bind);
  const unknown = given.find((name) => !names.includes(parameterName(name)));
  if (unknown !== undefined) {
    const meant = nearest(parameterName(unknown), names);
    return {
      path: ["bind", unknown],
      why: `the query has no parameter ${parameterName(unknown)}`,
      suggestion: meant && `did you mean "${meant.replace(/^:/, "")}"?`,
    };
  }
  const missing = names.find((name) => !given.some((one) => parameterName(one) === name));
  return missing === undefined ? undefined : { path: ["bind"], why: `the parameter ${missing} has no value` };
}
