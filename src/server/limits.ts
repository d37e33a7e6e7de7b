/** What a server allows, with the defaults. Times in seconds. `docs/protocol.md` states the same figures. */
import { z } from "zod";
import { ShinkenError } from "../errors/index.js";
import { defaultWireLimits, formatPath, type WireLimits } from "../wire/index.js";

export interface ServerLimits {
  wire: WireLimits;
  /** Connections at a time. */
  connections: number;
  /** Sessions that one connection holds, and that the server holds. */
  sessionsPerConnection: number;
  sessions: number;
  /** Rollouts that are open at a time. */
  rollouts: number;
  /** Requests of one connection that are not answered yet; `cancel`, `close`, `list` and `hello` do not count. */
  outstandingRequests: number;
  /** Bytes that wait for one connection to read them, before it is closed as a slow consumer. */
  sendQueueBytes: number;
  /** A detached session lives so long; a client may ask for less. */
  graceSeconds: number;
  /** A session without any request lives so long. */
  idleSeconds: number;
  /** A session lives so long at the most, whatever it does. */
  lifetimeSeconds: number;
}

export const defaultLimits: Readonly<ServerLimits> = {
  wire: defaultWireLimits,
  connections: 1024,
  sessionsPerConnection: 1024,
  sessions: 4096,
  rollouts: 64,
  outstandingRequests: 1024,
  sendQueueBytes: 8 * 1024 * 1024,
  graceSeconds: 30,
  idleSeconds: 15 * 60,
  lifetimeSeconds: 6 * 60 * 60,
};

/** Limits with all but the wire's own left open. */
export type LimitOverrides = Partial<Omit<ServerLimits, "wire">> & { wire?: Partial<WireLimits> | undefined };

const positive = z.number().int().positive().optional();
const seconds = z.number().min(0).optional();
const overrides = z.strictObject({
  wire: z
    .strictObject({
      maxMessageBytes: positive,
      maxDepth: positive,
      maxMapEntries: positive,
      maxArrayEntries: positive,
      maxStringBytes: positive,
      maxValues: positive,
    })
    .optional(),
  connections: positive,
  sessionsPerConnection: positive,
  sessions: positive,
  rollouts: positive,
  outstandingRequests: positive,
  sendQueueBytes: positive,
  graceSeconds: seconds,
  idleSeconds: seconds,
  lifetimeSeconds: seconds,
});

/** The defaults with `given` laid over them. Throws `bad_request` with the path of a wrong limit. */
export function resolveLimits(given: LimitOverrides = {}): ServerLimits {
  const parsed = overrides.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = formatPath(issue?.path ?? []);
    throw new ShinkenError("bad_request", `limits: ${path}: ${issue?.message ?? "invalid"}`, { path });
  }
  const { wire, ...rest } = given;
  return {
    ...defaultLimits,
    ...withoutUndefined(rest),
    wire: { ...defaultWireLimits, ...withoutUndefined(wire ?? {}) },
  };
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
}
