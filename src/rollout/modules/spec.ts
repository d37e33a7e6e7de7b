/** A module's tests as data: a setup, questions, and what each must come to. */
import { readdirSync, readFileSync } from "node:fs";
import { z } from "zod";
import { parseDocument } from "../../env/task/index.js";
import { step } from "../../env/task/steps.js";
import { parseOrThrow } from "../../errors/parse.js";
import { json, jsonFields } from "../../verifiers/assertions/json-value.js";

const moduleCase = z
  .strictObject({
    ask: z.string().min(1),
    args: jsonFields.default({}),
    result: json.optional(),
    /** Words of why what was asked about is not there. */
    absent: z.string().min(1).optional(),
    /** Words of why it cannot be read. */
    malformed: z.string().min(1).optional(),
    /** Fields, at any depth, that differ from run to run. */
    ignore: z.array(z.string()).default([]),
  })
  .refine(
    (one) => [one.result, one.absent, one.malformed].filter((field) => field !== undefined).length === 1,
    "needs exactly one of result, absent, malformed",
  );
export type ModuleCase = z.output<typeof moduleCase>;

const moduleTest = z.strictObject({
  image: z.string().min(1).default("shell"),
  setup: z.array(step).default([]),
  cases: z.array(moduleCase).min(1),
});
export type ModuleTest = z.output<typeof moduleTest> & { name: string };

const answer = z.strictObject({
  ask: z.string(),
  args: jsonFields,
  exit_code: z.int(),
  stdout: z.string(),
  stderr: z.string(),
});
/** What a real guest answered, so that the module can be tested where there is none. */
export const recording = z.strictObject({
  /** Digest of the module that was asked; another module must be recorded anew. */
  module: z.string().regex(/^[0-9a-f]{64}$/),
  image: z.string(),
  answers: z.array(answer),
});
export type Recording = z.output<typeof recording>;
export type RecordedAnswer = z.output<typeof answer>;

/** Reads the tests of a module's folder, by name. Throws `bad_task` with file and path of the first fault. */
export function readModuleTests(folder: string): ModuleTest[] {
  return readdirSync(`${folder}/tests`)
    .filter((file) => file.endsWith(".yaml"))
    .sort()
    .map((file) => {
      const document = parseDocument(readFileSync(`${folder}/tests/${file}`, "utf8"), file);
      return {
        ...parseOrThrow(moduleTest, document, "bad_task", [file]),
        name: file.slice(0, -".yaml".length),
      };
    });
}
