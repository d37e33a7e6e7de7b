import fc from "fast-check";
import { expect } from "vitest";
import type { ParsedQuery } from "../../../src/verifiers/channels/parsers.js";
import { parseFile } from "../../../src/verifiers/channels/parsers.js";
import { ContentFault } from "../../../src/verifiers/value.js";
import type { MemoryMachine, MemorySandbox } from "../../support/memory-sandbox.js";
import { grade } from "../support.js";

export interface Outcome {
  status: string | undefined;
  evidence: string;
}

/** Grades one check and returns its status and evidence. */
export async function check(
  channel: string,
  query: object,
  assert: object,
  machine: MemoryMachine | MemorySandbox = {},
  more: object = {},
): Promise<Outcome> {
  const verdict = await grade({ id: "c", channel, query, assert, ...more }, machine);
  const [result] = verdict.checks;
  return { status: result?.status, evidence: result?.evidence ?? "" };
}

/** A valid file with some of its bytes changed, cut off or repeated. */
export function mutated(original: Uint8Array): fc.Arbitrary<Uint8Array> {
  const place = fc.integer({ min: 0, max: Math.max(0, original.length - 1) });
  const change = fc.tuple(place, fc.integer({ min: 0, max: 255 }));
  return fc
    .record({
      changes: fc.array(change, { maxLength: 12 }),
      cut: fc.option(place, { nil: original.length }),
      repeat: fc.option(fc.tuple(place, fc.integer({ min: 1, max: 64 })), { nil: undefined }),
    })
    .map(({ changes, cut, repeat }) => {
      const bytes = Uint8Array.from(original);
      for (const [at, value] of changes) bytes[at] = value;
      const kept = bytes.subarray(0, cut);
      if (repeat === undefined) return kept;
      const [at, length] = repeat;
      return Uint8Array.from([...kept.subarray(0, at + length), ...kept.subarray(at)]);
    });
}

/** Damaged bytes give an answer or `ContentFault`, never another error. */
export async function standsDamage(
  originals: readonly Uint8Array[],
  queries: readonly ParsedQuery[],
  numRuns = 300,
) {
  const cases = fc
    .constantFrom(...originals)
    .chain((original) => fc.tuple(mutated(original), fc.constantFrom(...queries)));
  let faults = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ([bytes, query]) => {
      try {
        expect(await parseFile(bytes, query, "the file")).toBeTypeOf("object");
      } catch (error) {
        faults++;
        if (!(error instanceof ContentFault)) throw error;
      }
    }),
    { numRuns },
  );
  // A parser that finds nothing amiss in any damaged file was not tried.
  return faults;
}
