/** Errors that every implementation of the queue gives alike. */
import { ShinkenError } from "../../errors/index.js";

export function leaseLost(id: string): ShinkenError {
  return new ShinkenError("lease_lost", `the lease of ${id} is over, and its work is no longer wanted`, {
    path: id,
  });
}

export function claimLost(): ShinkenError {
  return new ShinkenError("lease_lost", "the batch has expired or was settled; collect again");
}

export function jobConflict(id: string): ShinkenError {
  return new ShinkenError("job_conflict", `there is another job of the id ${id}`, { path: id });
}

export function queueFailed(where: string, cause: unknown): ShinkenError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new ShinkenError("queue_failed", `${where}: ${message}`, { path: where, cause });
}
