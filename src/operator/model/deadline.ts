/** The budget of wall time ran out while a request was under way. */
export class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
}

/**
 * Runs `work` with a signal that follows the caller's and is aborted after `ms`, if that is not null: then, and then only, it rejects
 * with `BudgetSpent`. Nothing of it is left once it has settled.
 */
export async function within<T>(
  ms: number | null,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const follow = (): void => {
    controller.abort(signal?.reason);
  };
  signal?.addEventListener("abort", follow, { once: true });
  const timer =
    ms === null
      ? undefined
      : setTimeout(() => {
          controller.abort(new BudgetSpent("the budget of wall time is spent"));
        }, ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", follow);
  }
}
