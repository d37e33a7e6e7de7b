import { type ErrorCode, isInfrastructure, ShinkenError } from "../../errors/index.js";

/** The harness's failures on the way to a machine: a connection, a full server, a session that the server gave up. */
const onTheWay: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "connection_lost",
  "too_many_requests",
  "too_many_sessions",
  "slow_consumer",
  "server_draining",
  "session_expired",
  "unknown_session",
  "machine_closed",
  "disk_full",
]);

/** Whether the harness failed, not the operator and not the task: the same episode may come through on a fresh fork. */
export function isHarnessFailure(error: unknown): boolean {
  return isInfrastructure(error) || (error instanceof ShinkenError && onTheWay.has(error.code));
}

/**
 * Whether the failure says something about the image's sandboxes. A task's own setup, a judge without an answer, and a connection that
 * is gone say nothing of them.
 */
export function blamesSandbox(error: unknown): boolean {
  return (
    error instanceof ShinkenError &&
    ["fork_failed", "out_of_memory", "machine_died", "machine_timeout", "agent_protocol"].includes(error.code)
  );
}

/** As outcomes tell it: `code: message`. */
export function reasonOf(error: unknown): string {
  return error instanceof ShinkenError ? `${error.code}: ${error.message}` : String(error);
}

/** Of what is not ours: `internal`. */
export function codeOf(error: unknown): ErrorCode {
  return error instanceof ShinkenError ? error.code : "internal";
}
