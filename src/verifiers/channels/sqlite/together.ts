/**
 * Queries that come at one moment for one database are one job of a verifier thread: to wake a thread costs more than most of them.
 * They share what they wait for, and never each other's fate: one that is slow, or ends its thread, is left to itself.
 */
import { databaseInPool, poolStats, sqliteInPool } from "../../pool.js";
import { type SqliteQuestion, type SqliteResult, unpack } from "./engine.js";
import type { DatabaseFiles } from "./open.js";
import { Progress } from "./progress.js";

/** Milliseconds that a query may keep the others waiting. */
const PATIENCE_MS = 50;

interface Asked {
  question: SqliteQuestion;
  signal: AbortSignal;
  resolve: (result: SqliteResult) => void;
  reject: (reason: unknown) => void;
}

const waiting = new WeakMap<DatabaseFiles, Asked[]>();

/** Asks a database in a thread. `signal` ends the thread in mid-work; rejects with `ContentFault`, `grader_error` or the signal's reason. */
export function askDatabase(
  files: DatabaseFiles,
  question: SqliteQuestion,
  signal: AbortSignal,
): Promise<SqliteResult> {
  return new Promise((resolve, reject) => {
    const asked = { question, signal, resolve, reject };
    const others = waiting.get(files);
    if (others !== undefined) {
      others.push(asked);
      return;
    }
    const group = [asked];
    waiting.set(files, group);
    // Whoever waited for the copy goes on in the same run of microtasks.
    process.nextTick(() => {
      waiting.delete(files);
      if (group.length === 1) alone(files, asked);
      else void new Group(files, group).run();
    });
  });
}

function alone(files: DatabaseFiles, { question, signal, resolve, reject }: Asked): void {
  sqliteInPool({ ...files, ...question }, signal).then(resolve, (error: unknown) => {
    reject(signal.aborted ? signal.reason : error);
  });
}

/** One job under way. */
class Group {
  private readonly files: DatabaseFiles;
  private readonly all: readonly Asked[];
  /** Those whose answer is expected of this job. */
  private readonly expected: Set<Asked>;
  private readonly progress = new Progress();
  private readonly end = new AbortController();

  constructor(files: DatabaseFiles, all: readonly Asked[]) {
    this.files = files;
    this.all = all;
    this.expected = new Set(all);
  }

  async run(): Promise<void> {
    const stops = this.all.map((asked) => {
      const stop = (): void => this.giveUp(asked);
      if (asked.signal.aborted) stop();
      asked.signal.addEventListener("abort", stop, { once: true });
      return () => asked.signal.removeEventListener("abort", stop);
    });
    const watch = this.watch();
    try {
      const questions = this.all.map(({ question }) => question);
      const replies = await databaseInPool(this.files, questions, this.progress, this.end.signal);
      for (const [index, reply] of replies.entries()) {
        const asked = this.all[index] as Asked;
        if (!this.expected.delete(asked)) continue;
        try {
          asked.resolve(unpack(reply));
        } catch (error) {
          asked.reject(error);
        }
      }
    } catch (error) {
      this.fail(error);
    } finally {
      clearInterval(watch);
      for (const stop of stops) stop();
    }
    this.askRestAlone();
  }

  /** The one that the thread is at. */
  private get current(): Asked | undefined {
    return this.all[this.progress.at];
  }

  /** Nobody waits for this one any more; the thread ends if it is at it. */
  private giveUp(asked: Asked): void {
    if (this.expected.delete(asked)) asked.reject(asked.signal.reason);
    if (asked === this.current) this.end.abort();
  }

  /** The thread ended otherwise than by `giveUp`: by the one that it was at, or with the pool. */
  private fail(error: unknown): void {
    if (this.end.signal.aborted) return;
    const { current } = this;
    const hit = current === undefined || !poolStats().open ? [...this.expected] : [current];
    for (const asked of hit) if (this.expected.delete(asked)) asked.reject(error);
  }

  /** Looks from time to time whether the thread is still at the same query; then the others go on without it. */
  private watch(): NodeJS.Timeout {
    let last = this.progress.at;
    const timer = setInterval(() => {
      const { current } = this;
      if (current !== undefined && this.progress.at === last) {
        clearInterval(timer);
        this.progress.stop();
        const slow = this.expected.delete(current);
        this.askRestAlone();
        if (slow) this.expected.add(current);
        else this.end.abort();
      }
      last = this.progress.at;
    }, PATIENCE_MS);
    timer.unref();
    return timer;
  }

  private askRestAlone(): void {
    for (const asked of this.expected) alone(this.files, asked);
    this.expected.clear();
  }
}
