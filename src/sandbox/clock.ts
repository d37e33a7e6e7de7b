import type { WallClock } from "./sandbox.js";

/** The host's wall clock now, to the millisecond. */
export function hostClock(): WallClock {
  const now = Date.now();
  return { seconds: Math.floor(now / 1_000), nanoseconds: (now % 1_000) * 1_000_000 };
}
