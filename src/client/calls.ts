/** Requests that wait for their reply. Knows nothing of sockets, so that they can outlive one. */
import { type ErrorCode, errorTable, ShinkenError } from "../errors/index.js";
import type { Operation, Reply } from "../wire/index.js";

/** A request without its id. */
export interface Call {
  op: Operation;
  session?: string | undefined;
  rollout?: string | undefined;
  [field: string]: unknown;
}

export interface PendingCall {
  id: number;
  call: Call;
  resolve: (result: Record<string, unknown>) => void;
  reject: (error: ShinkenError) => void;
  /** Which message of the present connection it was, counted from 1; 0 before it is sent. */
  frame: number;
  /** It has been sent on an earlier connection; the server may be working on it still. */
  resent: boolean;
}

/**
 * Requests that may be sent again on a new connection: a step's number makes it idempotent, the others change nothing
 * that a second one would change again. `create`, `fork` and `attach` are not among them.
 */
const repeatable: ReadonlySet<Operation> = new Set<Operation>([
  "hello",
  "reset",
  "step",
  "evaluate",
  "observe",
  "cancel",
  "close",
  "list",
  "rollout.weights",
  "rollout.stats",
  "rollout.close",
]);

export class Calls {
  private readonly pending = new Map<number, PendingCall>();
  private lastId = 0;

  get size(): number {
    return this.pending.size;
  }

  add(call: Call, resolve: PendingCall["resolve"], reject: PendingCall["reject"]): PendingCall {
    const entry: PendingCall = { id: ++this.lastId, call, resolve, reject, frame: 0, resent: false };
    this.pending.set(entry.id, entry);
    return entry;
  }

  /** Settles the call that a reply answers; returns it if it should be sent again instead. */
  settle(reply: Reply): PendingCall | undefined {
    const entry =
      reply.id === null
        ? [...this.pending.values()].find(({ frame }) => frame === reply.frame)
        : this.pending.get(reply.id);
    if (entry === undefined) return undefined;
    // The first copy is still at work there: its connection is gone, so only asking again brings the outcome.
    if (!reply.ok && reply.error.code === "session_busy" && entry.resent) return entry;
    this.pending.delete(entry.id);
    if (reply.ok) entry.resolve(reply.result as Record<string, unknown>);
    else entry.reject(asError(reply.error));
    return undefined;
  }

  /** Rejects those that cannot be repeated; the others wait for another connection. */
  afterLoss(error: ShinkenError): void {
    for (const entry of [...this.pending.values()]) {
      entry.frame = 0;
      if (repeatable.has(entry.call.op)) entry.resent = true;
      else this.fail(entry, error);
    }
  }

  /** Oldest first. */
  all(): PendingCall[] {
    return [...this.pending.values()];
  }

  has(entry: PendingCall): boolean {
    return this.pending.get(entry.id) === entry;
  }

  fail(entry: PendingCall, error: ShinkenError): void {
    if (this.pending.delete(entry.id)) entry.reject(error);
  }

  failAll(error: ShinkenError): void {
    for (const entry of [...this.pending.values()]) this.fail(entry, error);
  }
}

/** A newer server may know codes that this client does not. */
function asError(error: {
  code: string;
  message: string;
  path?: string | undefined;
  suggestion?: string | undefined;
}) {
  const known = Object.hasOwn(errorTable, error.code);
  return new ShinkenError(
    known ? (error.code as ErrorCode) : "internal",
    known ? error.message : `${error.code}: ${error.message}`,
    { path: error.path, suggestion: error.suggestion },
  );
}
