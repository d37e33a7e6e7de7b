/** The ten response formats: how the choice among four candidates is to be written. */
import type { Contract } from "../contracts/schema.js";
import type { Random } from "./random.js";
import type { Candidate, Draft, ResponseFormat } from "./types.js";

export const letters = ["A", "B", "C", "D"] as const;

/** What a format makes of a draft whose options have an order. */
export interface Written {
  /** Says precisely what to write. */
  instruction: string;
  contract: Contract;
  key: unknown;
}

interface Arranged {
  draft: Draft;
  options: readonly Candidate[];
  /** Letter of the right one. */
  letter: string;
  random: Random;
}

const listed = (names: readonly string[]): string =>
  names.length === 1 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;

export const formats: Record<ResponseFormat, (arranged: Arranged) => Written> = {
  letter: ({ letter }) => ({
    instruction: "Write only the capital letter of your choice.",
    contract: { kind: "letter", letters: letters.join("") },
    key: letter,
  }),

  option_text: ({ draft, options }) => ({
    instruction:
      "Write only the text of your choice, character for character, without its letter and without quotation marks.",
    contract: { kind: "choice", options: options.map(({ text }) => text) },
    key: draft.right.text,
  }),

  json_object: ({ draft: { fields, numbers, right }, letter }) => ({
    instruction: `Write only a JSON object with the keys choice, ${listed(fields)}: choice is the letter of your choice, the others are its parts. ${numbers === true ? "The letter is a string, the parts are numbers." : "All values are strings."}`,
    contract: { kind: "json", type: "object", keys: ["choice", ...fields] },
    key: { choice: letter, ...named(fields, parts(right.values, numbers)) },
  }),

  json_array: ({ draft: { fields, numbers, right }, letter }) => ({
    instruction: `Write only a JSON array of ${fields.length + 1} ${numbers === true ? "values" : "strings"}: the letter of your choice, then its ${listed(fields)}, in this order${numbers === true ? ", these as numbers" : ""}.`,
    contract: { kind: "json", type: "array", length: fields.length + 1 },
    key: [letter, ...parts(right.values, numbers)],
  }),

  tsv: ({ draft: { fields, right } }) => ({
    instruction: `Write only two lines of tab-separated values: first the names ${listed(fields)}, then these parts of your choice, in the same order.`,
    contract: { kind: "tsv", rows: 2, columns: fields.length },
    key: [fields, right.values],
  }),

  key_value: ({ draft: { fields, right }, letter }) => ({
    instruction: `Write only ${fields.length + 1} lines of the form name=value without spaces around the equals sign, in this order: choice (the letter of your choice), ${listed(fields)}.`,
    contract: { kind: "pairs", names: ["choice", ...fields], separator: "=" },
    key: { choice: letter, ...named(fields, right.values) },
  }),

  two_lines: ({ draft: { fields, right }, options, letter, random }) => {
    const at = tellingField(options, random);
    return {
      instruction: `Write only two lines: the letter of your choice on the first, its ${fields[at] ?? ""} alone on the second.`,
      contract: { kind: "lines", count: 2 },
      key: [letter, right.values[at]],
    };
  },

  ordered_list: ({ draft: { fields, right } }) => ({
    instruction: `Write only a numbered list of the parts of your choice, one a line in the order ${listed(fields)}, each line beginning with its number, a full stop and one space, as in "1. ".`,
    contract: { kind: "list", mark: "{n}. ", count: fields.length },
    key: right.values,
  }),

  quoted: ({ draft: { fields, right }, options, random }) => {
    const at = tellingField(options, random);
    return {
      instruction: `Write only the ${fields[at] ?? ""} of your choice, in straight double quotation marks.`,
      contract: { kind: "quoted", open: '"', close: '"' },
      key: right.values[at],
    };
  },

  labelled: ({ draft: { fields, numbers, right }, options, letter, random }) => {
    if (numbers === true)
      return {
        instruction: `Write only the ${listed(fields)} of your choice in the form (${fields.join(", ")}): round brackets, a comma and one space between, whole numbers without leading zeros.`,
        contract: { kind: "coordinates", template: `(${fields.map((name) => `{${name}}`).join(", ")})` },
        key: named(fields, parts(right.values, numbers)),
      };
    const at = tellingField(options, random);
    return {
      instruction: `Write only one line: the letter of your choice in square brackets, one space, then its ${fields[at] ?? ""}.`,
      contract: { kind: "literal" },
      key: `[${letter}] ${right.values[at] ?? ""}`,
    };
  },
};

/** One of the parts in which the options differ most: where all four are alike, no choice would be told. */
function tellingField(options: readonly Candidate[], random: Random): number {
  const variety = (options[0]?.values ?? []).map(
    (_, at) => new Set(options.map(({ values }) => values[at])).size,
  );
  const most = Math.max(...variety);
  return random.pick(variety.flatMap((count, at) => (count === most ? [at] : [])));
}

/** The parts as JSON has them. */
function parts(values: readonly string[], numbers: true | undefined): readonly (string | number)[] {
  return numbers === true ? values.map(Number) : values;
}

function named<T>(fields: readonly string[], values: readonly T[]): Record<string, T | undefined> {
  return Object.fromEntries(fields.map((name, at) => [name, values[at]]));
}
