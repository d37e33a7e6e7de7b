import { show } from "../evidence.js";
import type { Judgement } from "../value.js";
import { Demands, type GroundText } from "./ground.js";
import { normaliseText } from "./normalise.js";

function asList<T>(value: T | T[] | undefined): T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** Splits text into lines; a final newline ends the last line and begins none. */
export function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Judges a text. Runs patterns, so it belongs into a worker where `matches` is set. */
export function judgeText(assertion: GroundText, seen: string): Judgement {
  const norm = (text: string) => normaliseText(text, assertion.normalise);
  const text = norm(seen);
  const demands = new Demands();
  if (assertion.equals !== undefined) {
    const wanted = norm(assertion.equals);
    demands.add(text === wanted, `equals ${show(wanted)}: saw ${show(text)}`);
  }
  if (assertion.one_of !== undefined) {
    demands.add(
      assertion.one_of.some((one) => norm(one) === text),
      `one of ${show(assertion.one_of)}: saw ${show(text)}`,
    );
  }
  const contained = asList(assertion.contains);
  if (contained.length > 0) {
    const missing = contained.filter((part) => !text.includes(norm(part)));
    const evidence =
      missing.length === 0
        ? `contains ${show(contained)}`
        : `does not contain ${show(missing)}: saw ${show(text)}`;
    const share = (contained.length - missing.length) / contained.length;
    demands.addScore(assertion.partial ? share : Math.floor(share), evidence);
  }
  for (const part of asList(assertion.excludes)) {
    demands.add(!text.includes(norm(part)), `excludes ${show(part)}: saw ${show(text)}`);
  }
  for (const one of asList(assertion.matches)) {
    const { pattern, flags } = typeof one === "string" ? { pattern: one, flags: "" } : one;
    demands.add(
      new RegExp(pattern, `u${flags}`).test(text),
      `matches /${pattern}/${flags}: saw ${show(text)}`,
    );
  }
  if (assertion.lines !== undefined) {
    const wanted = assertion.lines.map(norm);
    const lines = splitLines(text);
    const at = firstDifference(lines, wanted);
    demands.add(
      at === -1,
      at === -1
        ? `${lines.length} lines as expected`
        : `line ${at + 1}: wanted ${show(wanted[at] ?? null)}, saw ${show(lines[at] ?? null)}`,
    );
  }
  return demands.judge();
}

function firstDifference(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) if (a[index] !== b[index]) return index;
  return -1;
}
