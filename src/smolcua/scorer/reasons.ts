/** Why an answer is right or wrong: one word each, the same in every implementation of the protocol. */
export const protocol = "v2-outer-whitespace-insensitive";

/** Characters (UTF-16 units) of an answer that are read. */
export const answerAtMost = 65_536;

export const reasons = {
  correct: "it has the contract's form and the key's value",
  wrong_value: "it has the contract's form and another value",
  missing: "no answer was given",
  empty: "nothing is left without outer white space",
  too_long: `it has more than ${answerAtMost} characters`,
  code_fence: "it stands in a code fence",
  not_a_letter: "it is not one of the letters alone",
  not_an_option: "it is not the text of an option",
  not_quoted: "it does not stand between the marks, or a mark is in it",
  bad_json: "it is not one JSON document",
  duplicate_key: "an object of it has a key twice",
  too_deep: "its JSON is nested too deep",
  wrong_type: "its JSON is no object, or no array",
  wrong_keys: "its keys or names are others, or in another order",
  wrong_length: "its array has another length",
  carriage_return: "a carriage return is in it, and lines end with a line feed alone",
  line_count: "it has more or fewer lines",
  column_count: "a row of it has more or fewer cells",
  no_separator: "a line of it has no separator",
  bad_mark: "a line of it does not begin with its mark",
  bad_pattern: "it does not fit the pattern",
} as const;

export type Reason = keyof typeof reasons;

const values: ReadonlySet<Reason> = new Set(["correct", "wrong_value", "missing"]);

/** Whether the answer's form is what is wrong. */
export function isFormatFailure(reason: Reason): boolean {
  return !values.has(reason);
}
