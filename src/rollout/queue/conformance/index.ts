/** `checkQueue`: does a queue keep the contract of `JobQueue`? For our own and for anybody else's. */
import { QueueCheck } from "./check.js";
import { rules } from "./rules.js";
import type { JobQueue } from "../types.js";

/** A queue under test, and the hand that turns its clock. */
export interface QueueBench {
  /** Handles on one and the same empty queue, as two processes have them. */
  one: JobQueue;
  other: JobQueue;
  /** Lets that much time pass for the queue, and what it does by itself in that time be done. */
  advance: (ms: number) => Promise<void>;
  /** Closes both handles and removes the queue. */
  end: () => Promise<void>;
}

export interface CheckQueueOptions {
  /** A new, empty queue. */
  make: () => Promise<QueueBench>;
}

export interface CheckQueueReport {
  ok: boolean;
  /** Each broken rule in a sentence. */
  problems: string[];
  /** Rules that were tried. */
  rules: number;
}

/** Tries every rule on a queue of its own. Rejects only if `make` does. */
export async function checkQueue({ make }: CheckQueueOptions): Promise<CheckQueueReport> {
  const check = new QueueCheck();
  for (const [about, rule] of Object.entries(rules)) {
    const bench = await make();
    try {
      await rule(bench, check);
    } catch (error) {
      check.holds(false, `${about}: a proper request ends with ${String(error)}`);
    } finally {
      await bench.end();
    }
  }
  return { ok: check.problems.length === 0, problems: check.problems, rules: check.rules };
}
