/** The messages of the native dialect as types. `docs/protocol.md` is the specification. */
import type { ErrorCode } from "../errors/index.js";
import type { RolloutNotice } from "./rollout.js";

/** Operations that a request may name. */
export const operations = [
  "hello",
  "create",
  "reset",
  "step",
  "evaluate",
  "observe",
  "fork",
  "cancel",
  "detach",
  "attach",
  "close",
  "list",
  "rollout.open",
  "rollout.attach",
  "rollout.next",
  "rollout.weights",
  "rollout.stats",
  "rollout.close",
] as const;
export type Operation = (typeof operations)[number];

export interface WireError {
  code: ErrorCode;
  message: string;
  path?: string | undefined;
  suggestion?: string | undefined;
  retry: boolean;
}

/**
 * Answer to the request of the same id. `id` is null where the request's own could not be read; `frame` then says which
 * message of the connection it answers, counted from 1.
 */
export type Reply =
  | { id: number; ok: true; result: object }
  | { id: number; ok: false; error: WireError }
  | { id: null; frame: number; ok: false; error: WireError };

/** Limits in force, told by `hello`. */
export interface HelloLimits {
  message_bytes: number;
  depth: number;
  map_entries: number;
  array_entries: number;
  values: number;
  sessions_per_connection: number;
  outstanding_requests: number;
  grace_s: number;
  idle_s: number;
  lifetime_s: number;
}

export interface HelloResult {
  protocol: number;
  server: string;
  environments: string[];
  limits: HelloLimits;
}

export interface CreateResult {
  session: string;
  token: string;
  task: string;
}

export type SessionState = "created" | "running" | "over";

export interface AttachResult {
  session: string;
  task: string;
  state: SessionState;
  /** Number that the next step must carry; null before the first reset. */
  next: number | null;
  /** Id of its episode, where it is recorded. */
  episode?: string;
}

/** Of a session that goes on from somewhere: by `fork`, or by `create` with `from`. */
export type BranchResult = CreateResult & AttachResult;

export interface SessionRow extends AttachResult {
  busy: boolean;
}

export interface TaskRow {
  id: string;
  version: string;
  instruction: string;
  tags: string[];
  /** `eval`: for measuring only. */
  use?: "eval";
}

/** Pushed by the server about a session; carries no id. */
export type SessionEvent =
  | { event: "milestone"; session: string; check: string; reward: number; step: number; partial?: true }
  | {
      event: "progress";
      session: string;
      kind: "loop" | "no_progress";
      step: number;
      repeats: number;
      message: string;
    }
  | { event: "infra"; session: string; code: string; message: string }
  | { event: "closed"; session: string; code: ErrorCode; message: string }
  | { event: "detached"; session: string };

/** Pushed by the server; carries no id. */
export type PushedEvent = SessionEvent | RolloutNotice;

/** Why the server closes a connection; the text is the reason in the close frame. */
export const closeCodes = {
  going_away: 1001,
  /** A message of ours was dropped by the transport: a fault of the server's. */
  internal: 4000,
  slow_consumer: 4008,
} as const;
