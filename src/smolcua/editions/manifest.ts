/** What an edition says of itself: what is in it, how it was chosen, and by which bytes it can be known again. */
import { z } from "zod";
import { answerAtMost, protocol, reasons } from "../scorer/reasons.js";
import { trimOuter } from "../scorer/white-space.js";
import { type Category, categories } from "../questions/types.js";
import { equalBudget, passPoints, pointsOf } from "./budget.js";
import { keyLines, questionLines, sha256 } from "./lines.js";
import type { Items } from "./source.js";

/** Paths within an edition's folder. `private` is a name and hides nothing. */
export const editionFiles = {
  manifest: "manifest.json",
  questions: "questions.jsonl",
  keys: "private/keys.jsonl",
} as const;

const hash = z.string().regex(/^[0-9a-f]{64}$/, "must be a sha256 in hex");
const file = (path: string) => z.strictObject({ path: z.literal(path), sha256: hash, lines: z.int().min(1) });

export const manifestSchema = z.strictObject({
  format: z.literal(1),
  edition: z.string().regex(/^[a-z0-9][a-z0-9.-]*$/, "must be small letters, digits, full stops and hyphens"),
  split: z.enum(["evaluation", "train"]).describe("An evaluation edition is not for training."),
  seed: z.string().min(1),
  passes: z.int().min(1),
  questions: file(editionFiles.questions),
  keys: file(editionFiles.keys),
  scoring: z.strictObject({ protocol: z.literal(protocol), sha256: hash }),
  budget: z.strictObject({
    pass_points: z.literal(passPoints),
    calibrated: z.literal(false).describe("Nothing was measured that the weights would follow."),
    categories: z.partialRecord(z.enum(categories), z.number().positive()),
  }),
  selection: z.strictObject({
    procedure: z.string().min(1),
    ids: z.array(z.string().min(1)).min(1),
  }),
  source: z
    .strictObject({ edition: z.string().min(1), questions: hash, keys: hash })
    .nullable()
    .describe("The edition that this one was chosen from; null for one that was built."),
});
export type Manifest = z.output<typeof manifestSchema>;

export interface Edition {
  name: string;
  split: "evaluation" | "train";
  seed: string;
  /** In words: how these items were made or chosen. */
  procedure: string;
  items: Items;
  /** What it was chosen from. */
  source?: { name: string; items: Items };
}

/** Throws a RangeError where items and keys do not belong together, or are not of the source as they are there. */
export function manifestOf({ name, split, seed, procedure, items, source }: Edition): Manifest {
  const ids = items.questions.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) throw new RangeError(`two questions of ${name} have one id`);
  if (ids.join("\n") !== items.keys.map(({ id }) => id).join("\n"))
    throw new RangeError(`the keys of ${name} are not those of its questions, in their order`);
  const questions = questionLines(items.questions);
  const keys = keyLines(items.keys);
  if (source !== undefined) within(name, [questions, keys], source);
  const budget = equalBudget([...new Set<Category>(items.questions.map(({ category }) => category))]);
  pointsOf(items.questions, budget);
  return manifestSchema.parse({
    format: 1,
    edition: name,
    split,
    seed,
    passes: new Set(items.questions.map(({ pass }) => pass)).size,
    questions: { path: editionFiles.questions, sha256: sha256(questions), lines: ids.length },
    keys: { path: editionFiles.keys, sha256: sha256(keys), lines: ids.length },
    scoring: { protocol, sha256: scoringHash() },
    budget: { pass_points: passPoints, calibrated: false, categories: budget },
    selection: { procedure, ids },
    source:
      source === undefined
        ? null
        : {
            edition: source.name,
            questions: sha256(questionLines(source.items.questions)),
            keys: sha256(keyLines(source.items.keys)),
          },
  });
}

/** Every line of a chosen edition stands in its source, to the byte. */
function within(name: string, chosen: readonly string[], source: { name: string; items: Items }): void {
  const held = new Set(
    [questionLines(source.items.questions), keyLines(source.items.keys)].join("").split("\n"),
  );
  const other = chosen
    .join("")
    .split("\n")
    .find((line) => !held.has(line));
  if (other !== undefined)
    throw new RangeError(`${name} has what ${source.name} does not have: ${other.slice(0, 80)}`);
}

const basicPlane = 0x1_0000;

/**
 * Of what decides about answers beside contract and key: the protocol's name, the code points of outer white space as the scorer
 * takes them, the longest answer, the reasons. In hex.
 */
export function scoringHash(): string {
  const space: number[] = [];
  for (let point = 0; point < basicPlane; point += 1)
    if (trimOuter(String.fromCharCode(point)) === "") space.push(point);
  return sha256(JSON.stringify([protocol, space, answerAtMost, Object.keys(reasons)]));
}
