import { type ErrorCode, errorTable } from "./table.js";

export { type ErrorCode, errorTable } from "./table.js";

/** What an error carries beside its message. */
export interface ErrorDetail {
  /** Path of the fault in the input, e.g. `verify.checks[2].asert`. */
  path?: string | undefined;
  /** What the author probably meant, or what to do. */
  suggestion?: string | undefined;
  cause?: unknown;
}

/** An error with a stable code; the only kind that crosses a room's border on purpose. */
export class ShinkenError extends Error {
  readonly code: ErrorCode;
  readonly path: string | undefined;
  readonly suggestion: string | undefined;

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = "ShinkenError";
    this.code = code;
    this.path = detail.path;
    this.suggestion = detail.suggestion;
  }

  /** Whether the same request may succeed later unchanged. */
  get retry(): boolean {
    return errorTable[this.code].retry;
  }

  /** The shape used on the wire and by `--json`. */
  toJSON(): { code: ErrorCode; message: string; path?: string; suggestion?: string; retry: boolean } {
    return {
      code: this.code,
      message: this.message,
      ...(this.path === undefined ? {} : { path: this.path }),
      ...(this.suggestion === undefined ? {} : { suggestion: this.suggestion }),
      retry: this.retry,
    };
  }
}

const infrastructure: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "setup_failed",
  "fork_failed",
  "out_of_memory",
  "machine_died",
  "machine_timeout",
  "agent_protocol",
  "circuit_open",
  "judge_failed",
  "model_failed",
  "model_refused",
  "grader_error",
  "internal",
]);

/** True for failures of the harness: they end an episode as `infra`, never as a reward of 0. */
export function isInfrastructure(error: unknown): boolean {
  return !(error instanceof ShinkenError) || infrastructure.has(error.code);
}
