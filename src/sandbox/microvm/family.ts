/** What the machines that descend from one golden have in common, and what one machine knows of its descent. */
import type { Admission } from "./admission.js";
import type { Siblings } from "./siblings.js";
import type { DefaultLimits } from "./transport.js";

/** Kept by the provider; every open machine is in it, so that closing the provider closes all. */
export interface Household {
  readonly admission: Admission;
  readonly limits: DefaultLimits;
  /** Host milliseconds that a fork has for its acknowledgement. */
  readonly readyMs: number;
  readonly closed: boolean;
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
