/** What authors of questions write, and what becomes of it. */
import type { Contract } from "../contracts/schema.js";
import type { Random } from "./random.js";

export const categories = [
  "tool_selection",
  "next_actions",
  "strategy_switching",
  "instruction_following",
  "ambiguity",
  "coding",
  "structured_output",
  "coordinates",
  "multi_constraint",
  "state_tracking",
] as const;
export type Category = (typeof categories)[number];

export const responseFormats = [
  "letter",
  "option_text",
  "json_object",
  "json_array",
  "tsv",
  "key_value",
  "two_lines",
  "ordered_list",
  "quoted",
  "labelled",
] as const;
export type ResponseFormat = (typeof responseFormats)[number];

/** One candidate answer. */
export interface Candidate {
  /** The option as it is shown: one line, different from the others in more than white space and case. */
  text: string;
  /** The same in parts, by the draft's `fields`: each one line, without tabs and double quotes, not empty. */
  values: readonly string[];
}

/** A question before it has a response format. */
export interface Draft {
  /** What is the case: one paragraph, or several lines. */
  situation: string;
  /** What is asked; ends with a question mark. */
  question: string;
  /** Names of the parts of a candidate, 2 to 4, as `tool` and `argument`. */
  fields: readonly string[];
  /** The parts are whole numbers: JSON has them as numbers, and one format is a point. */
  numbers?: true;
  right: Candidate;
  /** Three that somebody hurried would take, each wrong for one reason. */
  wrong: readonly [Candidate, Candidate, Candidate];
}

/** One way to make questions. */
export interface Scenario {
  /** Within its category; never changed once an edition was built with it. */
  readonly name: string;
  /** The same stream, the same draft. */
  draw(random: Random): Draft;
}

/** A question as it is served. */
export interface Question {
  id: string;
  category: Category;
  format: ResponseFormat;
  /** Number of the item position, the same in every pass. */
  position: number;
  pass: number;
  scenario: string;
  situation: string;
  question: string;
  options: [string, string, string, string];
  /** What is to be written, in words. */
  instruction: string;
  contract: Contract;
}

/** What grading needs beside the question. */
export interface Key {
  id: string;
  key: unknown;
  /** Letter of the right option. */
  option: string;
}
