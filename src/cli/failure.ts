/** How a command says that it failed: one line for people, one object for programs. */
import { printableLines } from "../replay/show/printable.js";
import { exitCodes } from "./exit-codes.js";

/** A `ShinkenError`, told by its shape: benchmarks are compiled apart and have a class of their own. */
interface Described {
  code: string;
  message: string;
  path?: string | undefined;
  suggestion?: string | undefined;
  retry?: boolean | undefined;
}

/** Codes that mean: what you wrote is wrong. */
const usageCodes: ReadonlySet<string> = new Set([
  "bad_message",
  "bad_request",
  "bad_task",
  "bad_action",
  "bad_bundle",
  "asset_mismatch",
  "unknown_task",
  "unknown_op",
  "unauthorized",
  "too_large",
  "bundle_missing",
  "blob_missing",
  "not_repeatable",
  "store_missing",
  "store_version",
  "store_conflict",
  "unknown_run",
  "locks_differ",
  "job_conflict",
  "episode_over",
]);

/** Thrown by a command that has already said what is wrong. */
export class Quit extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** Prints the failure and gives the exit code that belongs to it. */
export function report(error: unknown, json: boolean): number {
  if (error instanceof Quit) return error.exitCode;
  const described = describe(error);
  if (json) tell(described);
  // A message may quote what a guest or a file says.
  process.stderr.write(`shinken: ${printableLines(described.message)}\n`);
  if (described.suggestion !== undefined) process.stderr.write(`  ${printableLines(described.suggestion)}\n`);
  if (described.code === "internal" && error instanceof Error && error.stack !== undefined) {
    process.stderr.write(`${error.stack}\n`);
  }
  return usageCodes.has(described.code) ? exitCodes.usage : exitCodes.infrastructure;
}

/** Tells a program of the failure. */
export function tell(error: Described): void {
  process.stdout.write(`${JSON.stringify({ error })}\n`);
}

/** What an error says of itself. */
function describe(error: unknown): Described {
  if (error instanceof Error && "code" in error && "toJSON" in error && typeof error.toJSON === "function") {
    return (error as Error & { toJSON(): Described }).toJSON();
  }
  return { code: "internal", message: error instanceof Error ? error.message : String(error) };
}
