import { ShinkenError } from "../../errors/index.js";

/**
 * The wall-clock safety net: settles as `work` does, or rejects with `machine_timeout` after `seconds` of host time
 * and calls `onExpire`, which has to end what still runs. It is never a verdict on the agent.
 */
export async function withinWall<T>(
  seconds: number,
  what: string,
  work: () => Promise<T>,
  onExpire: () => void,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const running = work();
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        onExpire();
        reject(new ShinkenError("machine_timeout", `${what} took more than ${seconds} s of host time`));
      },
      Math.min(seconds * 1_000, 2 ** 31 - 1),
    );
  });
  try {
    return await Promise.race([running, expired]);
  } finally {
    clearTimeout(timer);
    // Where the net ended it, what the work says later is of no interest.
    running.catch(() => undefined);
  }
}
