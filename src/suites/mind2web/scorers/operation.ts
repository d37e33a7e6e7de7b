/** Mind2Web: what a model's text says, and how well its operation agrees with the labelled one. */
import { z } from "zod";
import { strip, words } from "../../python/text.js";
import { defineScorer, fault, given, type Outcome, unit } from "../../scorer.js";

const textInput = z.strictObject({ text: z.string() });

const operationPattern = /Action: (CLICK|SELECT|TYPE)/;
const valuePattern = /Value: ([^\n]*)/;

/** The chosen option and the operation with its value, as one text. */
export type ParsedAction = readonly [option: string, operation: string];

/** The option is the text's first character, whatever it is; an operation that is none of the three reads as empty. */
function parseFaithfully({ text }: { text: string }): Outcome<ParsedAction> {
  const clean = strip(text);
  const [option] = clean;
  if (option === undefined) return fault("IndexError", "string index out of range");
  const operation = operationPattern.exec(clean)?.[1] ?? "";
  const value = strip(valuePattern.exec(clean)?.[1] ?? "");
  return given([option, `${operation} ${value}`]);
}

const option = /^([A-Z])(?![A-Za-z0-9])/;
const anyOperation = /^Action:[ \t]*(\S+)[ \t\r]*$/m;

/** Refuses a text that opens with no option letter, or that names an operation which is none of the three. */
function parseStrictly({ text }: { text: string }): Outcome<ParsedAction> {
  const clean = strip(text);
  const chosen = option.exec(clean)?.[1];
  if (chosen === undefined) return fault("UnreadableAnswer", "the text opens with no option letter");
  const operation = anyOperation.exec(clean)?.[1];
  if (operation !== undefined && !["CLICK", "SELECT", "TYPE"].includes(operation)) {
    return fault("UnreadableAnswer", `there is no operation ${operation}`);
  }
  return given([chosen, `${operation ?? ""} ${strip(valuePattern.exec(clean)?.[1] ?? "")}`]);
}

export const mind2webPostprocess = defineScorer({
  name: "mind2web.postprocess",
  version: 1,
  input: textInput,
  score: { faithful: parseFaithfully, strict: parseStrictly },
});

const operationInput = z.strictObject({ pred: z.string(), label: z.string() });
type OperationInput = z.output<typeof operationInput>;

function f1(shared: number, predicted: number, labelled: number): number {
  if (predicted === 0 && labelled === 0) return 1;
  if (shared === 0) return 0;
  const precision = shared / predicted;
  const recall = shared / labelled;
  return (2 * precision * recall) / (precision + recall);
}

/** Over the sets of words: order and repetition do not count. */
export function operationF1({ pred, label }: OperationInput): number {
  const predicted = new Set(words(pred));
  const labelled = new Set(words(label));
  return f1([...predicted].filter((word) => labelled.has(word)).length, predicted.size, labelled.size);
}

/** Over the words in their order, as often as they occur: 1 only for the same words in the same order. */
export function strictOperationF1({ pred, label }: OperationInput): number {
  const predicted = words(pred);
  const labelled = words(label);
  return f1(commonLength(predicted, labelled), predicted.length, labelled.length);
}

/** Length of the longest common subsequence; a bit for each word of the second list, so that long texts stay cheap. */
function commonLength(first: readonly string[], second: readonly string[]): number {
  const places = new Map<string, bigint>();
  for (const [index, word] of second.entries()) {
    places.set(word, (places.get(word) ?? 0n) | (1n << BigInt(index)));
  }
  const all = (1n << BigInt(second.length)) - 1n;
  let rest = all;
  for (const word of first) {
    const here = rest & (places.get(word) ?? 0n);
    rest = ((rest + here) | (rest - here)) & all;
  }
  return (all ^ rest).toString(2).replaceAll("0", "").length;
}

export const mind2webOperation = defineScorer({
  name: "mind2web.operation_f1",
  version: 1,
  input: operationInput,
  score: {
    faithful: (input) => given(operationF1(input)),
    strict: (input) => given(strictOperationF1(input)),
  },
  reward: unit,
});
