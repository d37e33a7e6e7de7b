/**
 * Questions and keys as JSON Lines: one object a line in the order of the edition, fields in one fixed order, no white space
 * between tokens, a line feed after every line, UTF-8. Equal items give equal bytes; hashes of an edition are of these.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { contractSchema } from "../contracts/schema.js";
import { letters } from "../questions/formats.js";
import { categories, type Key, type Question, responseFormats } from "../questions/types.js";

const text = z.string().min(1);

const questionSchema = z.strictObject({
  id: text,
  category: z.enum(categories),
  format: z.enum(responseFormats),
  position: z.int().min(0),
  pass: z.int().min(1),
  scenario: text,
  situation: text,
  question: text,
  options: z.tuple([text, text, text, text]),
  instruction: text,
  contract: contractSchema,
}) satisfies z.ZodType<Question>;

const keySchema = z.strictObject({ id: text, key: z.unknown(), option: z.enum(letters) });

/** Fields are written in the schema's order, whatever order an object has them in. */
export function questionLines(questions: readonly Question[]): string {
  return linesOf(questions.map((question) => questionSchema.parse(question)));
}

export function keyLines(keys: readonly Key[]): string {
  return linesOf(keys.map(({ id, key, option }) => ({ id, key, option })));
}

/** @param place what messages call the file */
export function readQuestions(lines: string, place: string): Question[] {
  return valuesOf(lines, place).map((value, at) =>
    parseOrThrow(questionSchema, value, "bad_request", [place, at]),
  );
}

/** @param place what messages call the file */
export function readKeys(lines: string, place: string): Key[] {
  return valuesOf(lines, place).map((value, at) =>
    parseOrThrow(keySchema, value, "bad_request", [place, at]),
  );
}

/** In hex. */
export function sha256(bytes: string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function linesOf(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

function valuesOf(lines: string, place: string): unknown[] {
  if (!lines.endsWith("\n"))
    throw new ShinkenError("bad_request", `${place} does not end with a line feed: it was cut, or is empty`, {
      path: place,
    });
  return lines
    .slice(0, -1)
    .split("\n")
    .map((line, at) => {
      try {
        return JSON.parse(line) as unknown;
      } catch (cause) {
        throw new ShinkenError("bad_request", `line ${at + 1} of ${place} is no JSON`, {
          path: `${place}[${at}]`,
          cause,
        });
      }
    });
}
