/** One line of what `shinken smolcua grade` reads. */
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { checkKey } from "../contracts/key.js";
import { contractSchema } from "../contracts/schema.js";
import { type Grade, grade } from "./grade.js";
import { type Exact, plainOf, readJson } from "./strict-json.js";

/** Characters of one line. */
export const lineAtMost = 1_048_576;

const request = z.strictObject({
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  contract: contractSchema,
  key: z.unknown(),
  answer: z.string().nullable(),
});

export type GradedLine =
  | { id: unknown; grade: Grade; error?: undefined }
  | { id: unknown; grade?: undefined; error: ShinkenError };

/**
 * Grades the answer of a line `{"id","contract","key","answer"}`. Never throws: what is wrong with the line is its result.
 * @param place what messages call it
 */
export function gradeLine(line: string, place: string): GradedLine {
  let id: unknown = null;
  try {
    if (line.length > lineAtMost)
      throw new ShinkenError("too_large", `${place} has more than ${lineAtMost} characters`, { path: place });
    const value = valueOf(line, place);
    const plain = plainOf(value);
    id = (plain as { id?: unknown } | null)?.id ?? null;
    const { contract, answer, ...held } = parseOrThrow(request, plain, "bad_request", [place]);
    // A number in a key means its exact value, which JavaScript's numbers may not have.
    const key = contract.kind === "json" && value instanceof Map ? value.get("key") : held.key;
    checkKey(contract, key, [place, "key"]);
    return { id, grade: grade(contract, key, answer) };
  } catch (error) {
    if (error instanceof ShinkenError) return { id, error };
    throw error;
  }
}

function valueOf(line: string, place: string): Exact {
  const read = readJson(line);
  if ("value" in read) return read.value;
  throw new ShinkenError("bad_request", `${place}: it is no JSON object (${read.fault})`, {
    path: place,
    suggestion: 'a line has {"id","contract","key","answer"}',
  });
}
