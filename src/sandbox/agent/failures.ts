/** How failures of a request become errors of the one table. */
import { getSystemErrorMap } from "node:util";
import { type ErrorCode, ShinkenError } from "../../errors/index.js";

/** What the errno names mean, in the words of every C library. */
const meanings: ReadonlyMap<string, string> = new Map(getSystemErrorMap().values());
/** Steps that are the operation itself: to name them says nothing. */
const plainSteps: ReadonlySet<string> = new Set(["exec", "open", "stat", "list", "read", "write", "path"]);

/**
 * The guest refused an operation; `errno` is its name, such as `ENOENT`. The message says it in words, with the name at its
 * end.
 */
export class GuestError extends ShinkenError {
  readonly errno: string;
  /** The step of the operation that failed. */
  readonly step: string;

  /** `subject` is what the step was about, such as the user's name. */
  constructor(what: string, errno: string, step: string, subject?: string) {
    super("guest_error", `${what}: ${inWords(errno, step, subject)}`);
    this.name = "GuestError";
    this.errno = errno;
    this.step = step;
  }
}

function inWords(errno: string, step: string, subject: string | undefined): string {
  if (step === "user" && errno === "ENOENT" && subject !== undefined)
    return `there is no user ${subject} (${errno})`;
  const meaning = meanings.get(errno);
  const reason = meaning === undefined ? errno : `${meaning} (${errno})`;
  if (plainSteps.has(step)) return reason;
  return subject === undefined ? `${step}: ${reason}` : `${step} ${subject}: ${reason}`;
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
