/** Rows of delimited text: their cells, their columns, their sums. */
import { crossed } from "../../crossed.js";
import type { Candidate, Scenario } from "../../types.js";
import { cities, people, plainWords } from "../../words.js";
import { record } from "./record.js";

/** Cells stand in the header's order, which is not the record's. */
export const csvColumns: Scenario = {
  name: "csv-columns",
  draw(random) {
    const columns = random.some(["from", "to", "seats", "bags", "gate", "fare", "stops", "class"], 5);
    const cells = random.some(
      Array.from({ length: 90 }, (_, at) => String(at + 10)),
      columns.length,
    );
    const [a = 0, b = 0] = random.some([0, 1, 2, 3, 4], 2);
    const near = (at: number) => cells[at === 0 || (at < 4 && random.chance(0.5)) ? at + 1 : at - 1] ?? "";
    const renamed = random.some(plainWords, 2);
    const [x = "", y = ""] = renamed;
    return {
      situation: `A file of semicolon-separated values begins with these two lines, of which the first names the columns:\n  ${columns.join(";")}\n  ${cells.join(";")}\nA mapping makes a record with two keys of each row: ${x} is the column ${columns[a] ?? ""}, ${y} is the column ${columns[b] ?? ""}.`,
      question: "Which record does the mapping make of the second line?",
      fields: renamed,
      ...crossed(record(renamed), [cells[a] ?? "", near(a)], [cells[b] ?? "", near(b)]),
    };
  },
};

/** A separator within quotation marks parts nothing. */
function cellsOf(line: string, separator: string): string[] {
  const cells = [""];
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) cells.push("");
    else cells.push(`${cells.pop() ?? ""}${character}`);
  }
  return cells;
}

/** Both kinds of lines occur: with the comma inside quotation marks, and without them. */
export const csvFields: Scenario = {
  name: "csv-fields",
  draw(random) {
    const [separator, other] = random.shuffled([",", ";"] as const) as [string, string];
    const [a = "", b = "", c = "", d = "", e = "", f = ""] = random.some([...people, ...cities], 6);
    const quoted = random.chance(0.4);
    const inner = random.chance(0.75) ? separator : other;
    const pair = `${b}${inner}${c}`;
    const line = [a, quoted ? `"${pair}"` : pair, d, e, f].join(separator);
    const [, right2 = "", right3 = ""] = cellsOf(line, separator);
    // As if the marks meant nothing, or the other separator parted too; else as if they were there.
    const split = right2 === pair;
    const slip2 = split ? b : pair;
    const slip3 = split ? c : d;
    const option = (second: string, third: string): Candidate => ({
      text: `${second} and ${third}`,
      values: [second, third],
    });
    return {
      situation: `A line of a file of delimited text, whose separator is the ${separator === "," ? "comma" : "semicolon"} alone; a separator inside straight quotation marks belongs to the cell, and the marks themselves do not:\n  ${line}`,
      question: "What do the second and the third cell hold?",
      fields: ["second_cell", "third_cell"],
      ...crossed(option, [right2, slip2], [right3, slip3]),
    };
  },
};

/** Rows that the condition leaves out count for nothing. */
export const groupTotals: Scenario = {
  name: "group-totals",
  draw(random) {
    const groups = random.some(["north", "south", "east", "west", "inland", "coast"], 2);
    const [one = "", two = ""] = groups;
    const states = random.some(["paid", "open", "late", "void"], 3);
    const [wanted = "", also = ""] = states;
    const rows = Array.from({ length: random.between(6, 8) }, (_, at) => ({
      group: at % 2 === 0 ? one : two,
      state: random.pick(states),
      amount: random.between(2, 60),
    }));
    const negated = random.chance(0.4);
    const both = random.chance(0.5);
    const takes = (state: string) => {
      const named = state === wanted || (both && state === also);
      return negated ? !named : named;
    };
    const total = (group: string, counts: (state: string) => boolean) =>
      String(
        rows
          .filter((row) => row.group === group && counts(row.state))
          .reduce((sum, { amount }) => sum + amount, 0),
      );
    const slipped = random.chance(0.5)
      ? (state: string) => (state === wanted) !== negated
      : (state: string) => !takes(state);
    const condition = `${negated ? "is neither" : "is"} ${wanted}${both ? `${negated ? " nor" : " or"} ${also}` : ""}`;
    return {
      situation: `Rows of region, state and amount:\n${random
        .shuffled(rows)
        .map(({ group, state, amount }) => `  ${group} ${state} ${amount}`)
        .join(
          "\n",
        )}\nA record has one key for each region; its value is the sum of the amounts of those of its rows whose state ${both || !negated ? condition : `is not ${wanted}`}. Without such rows the sum is 0.`,
      question: "Which record is made of these rows?",
      fields: groups,
      ...crossed(
        record(groups),
        [total(one, takes), total(one, slipped)],
        [total(two, takes), total(two, slipped)],
      ),
    };
  },
};
