import { ShinkenError } from "../../errors/index.js";
import { openSqliteQueue } from "./sqlite/queue.js";
import type { JobQueue, QueueOptions } from "./types.js";

/** The queue at `sqlite:FILE`, or `redis://HOST:PORT`. @throws ShinkenError `bad_request`, `queue_failed` */
export async function openQueue(address: string, options: QueueOptions = {}): Promise<JobQueue> {
  if (/^sqlite:./.test(address)) return openSqliteQueue(address.slice("sqlite:".length), options);
  if (/^rediss?:\/\//.test(address)) {
    const { openRedisQueue } = await import("./redis/index.js");
    return openRedisQueue(address, options);
  }
  throw new ShinkenError("bad_request", `${address} names no queue`, {
    path: "queue",
    suggestion: "write sqlite:FILE, or redis://HOST:PORT",
  });
}
