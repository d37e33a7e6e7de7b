/** Public data of benchmarks beside the checkout. Where it is absent, the tests that read it are skipped and say so. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Outcome } from "../../src/suites/index.js";

const shared = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "shared");

export const sharedFile = (...parts: string[]): string => join(shared, ...parts);

/** For `describe.skipIf`, with the reason for the title. */
export const absent = (...parts: string[]): boolean => !existsSync(sharedFile(...parts));

export const readShared = (...parts: string[]): unknown =>
  JSON.parse(readFileSync(sharedFile(...parts), "utf8")) as unknown;

/** The value of an outcome, or what was raised, as one line. */
export function seen<T>(outcome: Outcome<T>): T | string {
  return outcome.fault === undefined ? outcome.value : `${outcome.fault.kind} ${outcome.fault.message}`;
}
