/** What the machines that descend from one golden have in common, and what one machine knows of its descent. */
import type { MemoryKind } from "./addon.js";
import type { Admission } from "./admission.js";
import type { Gate } from "./gate.js";
import type { Siblings } from "./siblings.js";
import type { DefaultLimits } from "./transport.js";

/**
 * Why a fork was killed before anybody could use it: no acknowledgement came; one came that another fork has shown, or that came
 * twice, or that is none of this fork's; the guest said that a step failed; the machine ended; anything else.
 */
export const forkFailures = ["lost", "repeated", "refused", "died", "other"] as const;
export type ForkFailure = (typeof forkFailures)[number];

/** Kept by the provider; every open machine is in it, so that closing the provider closes all. */
export interface Household {
  readonly admission: Admission;
  readonly limits: DefaultLimits;
  /** Host milliseconds that a fork has for its acknowledgement. */
  readonly readyMs: number;
  /** Forks that are on their way from their host's clock to their acknowledgement. */
  readonly arrivals: Gate;
  /** Guest memory of all its machines. */
  readonly memory: MemoryKind;
  readonly closed: boolean;
  /** Forks that were killed, by the reason; not those that a closing provider took along. */
  readonly killed: Record<ForkFailure, number>;
  add(machine: { close(): Promise<void> }): void;
  remove(machine: { close(): Promise<void> }): void;
}

export interface Family {
  readonly household: Household;
  readonly siblings: Siblings;
  /** Digest of the image. */
  readonly image: string;
  readonly memoryMiB: number;
}

/** Where a machine comes from. */
export interface Descent {
  readonly kind: "boot" | "replica" | "branch" | "grade";
  /** Seed from which branches without one of their own derive theirs; null in an unseeded run. */
  readonly seed: Uint8Array | null;
}
