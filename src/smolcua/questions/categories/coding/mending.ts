/** Which changed line mends a program? The programs are run, with every candidate. */
import type { Candidate, Scenario } from "../../types.js";

const operators = {
  ">": { says: "greater than", holds: (a: number, b: number) => a > b },
  ">=": { says: "at least", holds: (a: number, b: number) => a >= b },
  "<": { says: "less than", holds: (a: number, b: number) => a < b },
  "<=": { says: "at most", holds: (a: number, b: number) => a <= b },
} as const;
type Operator = keyof typeof operators;
const operatorNames = Object.keys(operators) as Operator[];

const starts = ["0", "1", "limit"] as const;
const additions = ["1", "value", "limit"] as const;

interface Program {
  start: (typeof starts)[number];
  operator: Operator;
  added: (typeof additions)[number];
}

/** Numbers and limits that tell any two of the programs apart. */
const trials: readonly (readonly [readonly number[], number])[] = [
  [[], 4],
  [[3, 4, 5, 9], 4],
  [[7, 2, 2, 11, 6], 6],
  [[1, 1, 8], 7],
];

function results({ start, operator, added }: Program): string {
  const run = (values: readonly number[], limit: number) => {
    let total = start === "limit" ? limit : Number(start);
    for (const value of values) {
      if (operators[operator].holds(value, limit))
        total += added === "1" ? 1 : added === "value" ? value : limit;
    }
    return total;
  };
  return trials.map(([values, limit]) => run(values, limit)).join(" ");
}

const numbers = { start: 2, operator: 4, added: 5 } as const;
type Part = keyof typeof numbers;

function lineOf(program: Program, part: Part): string {
  if (part === "start") return `total = ${program.start}`;
  return part === "operator" ? `if value ${program.operator} limit:` : `total = total + ${program.added}`;
}

/** All programs that differ from this one in exactly that part. */
function changed(program: Program, part: Part): Program[] {
  const values = { start: starts, operator: operatorNames, added: additions }[part];
  return values.filter((value) => value !== program[part]).map((value) => ({ ...program, [part]: value }));
}

/** Two candidates change the faulty line and two another: neither line nor text alone tells. */
export const mendLine: Scenario = {
  name: "mend-line",
  draw(random) {
    const counts = random.chance(0.5);
    const wanted: Program = {
      start: "0",
      operator: random.pick(operatorNames),
      added: counts ? "1" : "value",
    };
    const parts: readonly Part[] = ["start", "operator", "added"];
    const part = random.pick(parts);
    const other = random.pick(parts.filter((one) => one !== part));
    const given = random.pick(changed(wanted, part));
    const candidates = [
      ...random
        .some(
          changed(given, part).filter((program) => program[part] !== wanted[part]),
          1,
        )
        .map((program) => [program, part] as const),
      ...random.some(changed(given, other), 2).map((program) => [program, other] as const),
      [wanted, part] as const,
    ];
    const mending = candidates.filter(([program]) => results(program) === results(wanted));
    if (mending.length !== 1) throw new RangeError("more than one line mends the program");
    const [a, b, c, right] = candidates.map(([program, changedPart]): Candidate => {
      const line = lineOf(program, changedPart);
      return {
        text: `line ${numbers[changedPart]}: ${line}`,
        values: [String(numbers[changedPart]), line],
      };
    });
    if (a === undefined || b === undefined || c === undefined || right === undefined)
      throw new RangeError("a program has too few changes");
    const name = random.pick(["tally", "evaluate", "measure", "result", "compute", "gather"]);
    const shown = [
      `1  def ${name}(values, limit):`,
      `2      ${lineOf(given, "start")}`,
      "3      for value in values:",
      `4          ${lineOf(given, "operator")}`,
      `5              ${lineOf(given, "added")}`,
      "6      return total",
    ];
    return {
      situation: `A Python 3 function is to return the ${counts ? "number" : "sum"} of those values that are ${operators[wanted.operator].says} ${random.pick(["limit", "the given limit", "the limit it is given"])}, for any list of whole numbers and any limit. One line of it is wrong:\n${shown.join("\n")}`,
      question: "Which line must be replaced by what, its indentation kept, so that the function is right?",
      fields: ["line", "replacement"],
      right,
      wrong: [a, b, c],
    };
  },
};
