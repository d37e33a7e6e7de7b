/** Tests of document channels through the public face: a check on files of a scripted machine. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect } from "vitest";
import { type ParsedQuery, parseFile } from "../../../src/verifiers/channels/parsers.js";
import { type Answer, ContentFault } from "../../../src/verifiers/value.js";
import type { MemoryMachine } from "../../support/memory-sandbox.js";
import { check, mutated } from "./support.js";

type Files = NonNullable<MemoryMachine["files"]>;

/** A file that a real tool wrote; the scripts beside it say which. */
export function fixture(name: string): Uint8Array {
  return readFileSync(new URL(`../fixtures/documents/${name}`, import.meta.url));
}

/** Expects a check to pass, and shows its evidence where it does not. */
export async function holds(channel: string, query: object, assert: object, files: Files): Promise<void> {
  const { status, evidence } = await check(channel, query, assert, { files });
  expect(status, evidence).toBe("passed");
}

/** Expects a check to fail because what it asks for is not there. */
export async function lacks(channel: string, query: object, files: Files, why: string): Promise<void> {
  const { status, evidence } = await check(channel, query, { type: "json", exists: true }, { files });
  expect([status, evidence]).toEqual(["failed", why]);
}

/** Expects a fault of the content, for a reason that holds these words. */
export async function faults(
  channel: string,
  query: object,
  assert: object,
  files: Files,
  why: string,
): Promise<void> {
  const { status, evidence } = await check(channel, query, assert, { files }, { on_error: "fail" });
  expect(evidence).toContain(why);
  // `on_error: fail` makes a 0 of a fault of the content, and of nothing else.
  expect(status).toBe("failed");
}

/** A parser's answer, or the words of its `ContentFault`; any other error is thrown on. */
export async function answerOrFault(
  query: ParsedQuery,
  bytes: Uint8Array,
): Promise<Answer | { fault: string }> {
  try {
    return await parseFile(bytes, query, "/w/file");
  } catch (error) {
    if (error instanceof ContentFault) return { fault: error.message };
    throw error;
  }
}

/** Whatever became of the file's bytes, queries on it come to an answer or a `ContentFault`, and twice to the same one. */
export async function survivesMutation(
  seed: Uint8Array,
  queries: readonly ParsedQuery[],
  numRuns = 150,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(mutated(seed), fc.constantFrom(...queries), async (bytes, query) => {
      const first = await answerOrFault(query, bytes);
      expect(await answerOrFault(query, bytes)).toEqual(first);
    }),
    { numRuns },
  );
}
