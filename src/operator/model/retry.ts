/** How long to wait before a request is sent again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelSettings } from "./settings.js";

/**
 * Milliseconds before try `n` + 1, n counted from 1: exponential back-off with full jitter, and what the endpoint asked for on top. Null
 * if it asks for more than there is patience for. `random` in [0, 1).
 */
export function waitBefore(
  n: number,
  afterMs: number | null,
  { base_ms, cap_ms, patience_ms }: ModelSettings["retry"],
  random: () => number,
): number | null {
  if (afterMs !== null && afterMs > patience_ms) return null;
  return (afterMs ?? 0) + random() * Math.min(cap_ms, base_ms * 2 ** (n - 1));
}

/** Rejects with the signal's reason when it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
