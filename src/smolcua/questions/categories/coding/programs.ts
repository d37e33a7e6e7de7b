/** What short Python programs print. */
import { crossed } from "../../crossed.js";
import type { Candidate, Scenario } from "../../types.js";
import { plainWords } from "../../words.js";

const block = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join("\n");

/** The end of a slice is not in it; -1 is the last item. */
export const slices: Scenario = {
  name: "slices",
  draw(random) {
    const words = random.some(plainWords, random.between(6, 8));
    const from = random.between(0, 3);
    const to = from + random.between(1, 2);
    const back = random.between(2, words.length - 1);
    const join = (list: readonly string[]) => list.join(" ");
    // Shifted by one: counted from 1. Longer by one: the end taken in.
    const slip = random.chance(0.5)
      ? words.slice(from, to + 1)
      : words.slice(Math.max(0, from - 1), Math.max(1, to - 1));
    const item = words.at(-back) ?? "";
    const otherItem = words.at(random.chance(0.5) ? -back - 1 : 1 - back) ?? "";
    const option = (slice: string, single: string): Candidate => ({
      text: `${slice}, then ${single}`,
      values: [slice, single],
    });
    return {
      situation: `A Python 3 program:\n${block([
        `words = [${words.map((word) => `"${word}"`).join(", ")}]`,
        `print(*words[${from}:${to}])`,
        `print(words[-${back}])`,
      ])}`,
      question: "Which two lines does it print?",
      fields: ["first_line", "second_line"],
      ...crossed(option, [join(words.slice(from, to)), join(slip)], [item, otherItem]),
    };
  },
};

/** `continue` skips one round, `break` all that are left; `range` stops before its end. */
export const rangeLoop: Scenario = {
  name: "range-loop",
  draw(random) {
    const start = random.between(1, 12);
    const step = random.between(1, 4);
    const end = start + step * random.between(4, 7);
    const divisor = random.between(3, 7);
    const stops = random.chance(0.5);
    const run = (leaves: boolean) => {
      let [total, last] = [0, start];
      for (let i = start; i < end; i += step) {
        last = i;
        if (i % divisor === 0) {
          if (leaves) break;
          continue;
        }
        total += i;
      }
      return { total, last };
    };
    const { total, last } = run(stops);
    const other = run(!stops);
    // i is left where the loop ended: neither a step before nor, as in other languages, a step after.
    const lastSlip = random.chance(0.4) && stops ? other.last : last + (random.chance(0.5) ? step : -step);
    const option = (sum: number, i: number): Candidate => ({
      text: `total ${sum}, i ${i}`,
      values: [String(sum), String(i)],
    });
    return {
      situation: `A Python 3 program:\n${block([
        "total = 0",
        `for i in range(${start}, ${end}, ${step}):`,
        `    if i % ${divisor} == 0:`,
        `        ${stops ? "break" : "continue"}`,
        "    total = total + i",
        "print(total, i)",
      ])}`,
      question: "Which values of total and i does it print?",
      fields: ["total", "i"],
      ...crossed(option, [total, other.total], [last, lastSlip]),
    };
  },
};

/** An assignment gives a list a second name; a slice, `list()` and `copy()` make another list. */
export const aliasCopy: Scenario = {
  name: "alias-copy",
  draw(random) {
    const [first, second, third] = random.some(["names", "items", "rows", "marks", "parts", "steps"], 3) as [
      string,
      string,
      string,
    ];
    const start = random.some(plainWords, random.between(1, 4));
    const link = (source: string): { code: string; same: boolean } =>
      random.chance(0.5)
        ? { code: source, same: true }
        : { code: random.pick([`${source}[:]`, `list(${source})`, `${source}.copy()`]), same: false };
    const one = link(first);
    const source = random.pick([first, second]);
    const two = link(source);
    const pushes = Array.from({ length: random.between(3, 6) }, () => random.pick([first, second, third]));
    const run = (sameOne: boolean, sameTwo: boolean) => {
      const a = { length: start.length };
      const b = sameOne ? a : { ...a };
      const from = source === first ? a : b;
      const c = sameTwo ? from : { ...from };
      for (const name of pushes) (name === first ? a : name === second ? b : c).length += 1;
      return [b.length, c.length] as const;
    };
    const option = (sameOne: boolean, sameTwo: boolean): Candidate => {
      const [b, c] = run(sameOne, sameTwo);
      return { text: `${second} ${b}, ${third} ${c}`, values: [String(b), String(c)] };
    };
    return {
      situation: `A Python 3 program:\n${block([
        `${first} = [${start.map((word) => `"${word}"`).join(", ")}]`,
        `${second} = ${one.code}`,
        `${third} = ${two.code}`,
        ...pushes.map((name, at) => `${name}.append(${at})`),
        `print(len(${second}), len(${third}))`,
      ])}`,
      question: `Which lengths of ${second} and ${third} does it print?`,
      fields: [second, third],
      ...crossed(option, [one.same, !one.same], [two.same, !two.same]),
    };
  },
};
