import type { Interval } from "./share.js";

/** A figure with its interval; both null where the data do not tell them, with the reason. */
export interface Estimate {
  value: number | null;
  ci: Interval | null;
  /** Why a figure is null, or why it says less than it seems; null where there is nothing to say. */
  reason: string | null;
}
