/** How failures of a request become errors of the one table. */
import { type ErrorCode, ShinkenError } from "../../errors/index.js";

/** The guest refused an operation; `errno` is its name, such as `ENOENT`. */
export class GuestError extends ShinkenError {
  readonly errno: string;
  /** The step of the operation that failed. */
  readonly step: string;

  constructor(what: string, errno: string, step: string) {
    super("guest_error", `${what}: ${errno} (${step})`);
    this.name = "GuestError";
    this.errno = errno;
    this.step = step;
  }
}

/** An error for what the guest said in breach of the protocol. */
export function protocolError(why: string, cause?: unknown): ShinkenError {
  return new ShinkenError("agent_protocol", `The guest agent broke its protocol: ${why}.`, { cause });
}

/** The error for an exchange that ended without the reply. `died` is what the agent's end was reported as, if it was. */
export function stopped(reason: string, died: string | null): ShinkenError {
  if (died !== null) return new ShinkenError("machine_died", died);
  const codes: [RegExp, ErrorCode, string][] = [
    [/cancel/, "cancelled", "The request was cancelled."],
    [/protocol|output_limit/, "agent_protocol", `The guest agent broke its protocol (${reason}).`],
    [/timeout|limit|wall/, "machine_timeout", `The machine did not answer in time (${reason}).`],
  ];
  for (const [pattern, code, message] of codes)
    if (pattern.test(reason)) return new ShinkenError(code, message);
  return new ShinkenError("machine_died", `The machine stopped before it answered (${reason}).`);
}
