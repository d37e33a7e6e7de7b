import { Redis } from "ioredis";
import { ShinkenError } from "../../../errors/index.js";
import { queueFailed } from "../faults.js";

/** For the first connection, and for every answer: Redis holds what we ask for in memory. */
const connectMs = 10_000;
const answerMs = 20_000;
/** A connection that broke is made again, at first soon. */
const retryMs = 100;
const maxRetryMs = 2_000;

/** Connects, or rejects with `queue_failed`. */
export async function connectRedis(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: connectMs,
    commandTimeout: answerMs,
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(times * retryMs, maxRetryMs),
  });
  // Commands tell of it: they reject, or wait for the next connection.
  redis.on("error", () => undefined);
  try {
    await within(redis.connect(), connectMs);
    return redis;
  } catch (cause) {
    redis.disconnect();
    throw queueFailed(withoutPassword(url), cause);
  }
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${ms} ms`));
    }, ms);
  });
  await Promise.race([work, late]).finally(() => {
    clearTimeout(timer);
  });
}

export function withoutPassword(address: string): string {
  if (!URL.canParse(address))
    throw new ShinkenError("bad_request", "the address of Redis is no URL", { path: "queue" });
  const url = new URL(address);
  url.password = "";
  url.username = "";
  return url.href;
}
