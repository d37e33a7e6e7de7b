/**
 * Gives `work` of each item in order, with up to `ahead` items begun before they are asked for. After an error, or when
 * the consumer leaves, what was begun is awaited, so that nothing goes on behind its back.
 */
export async function* inOrderAhead<T, R>(
  items: readonly T[],
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, void> {
  const begun: Promise<R>[] = [];
  let next = 0;
  try {
    while (begun.length > 0 || next < items.length) {
      while (begun.length <= ahead && next < items.length) {
        const promise = work(items[next++] as T);
        // Its rejection is thrown when its turn comes.
        promise.catch(() => undefined);
        begun.push(promise);
      }
      const first = begun.shift();
      if (first !== undefined) yield await first;
    }
  } finally {
    await Promise.allSettled(begun);
  }
}
