/** The book that an evaluation is kept in: its run in the run store, begun or gone on with. */
import { ShinkenError } from "../errors/index.js";
import type { EpisodeOutcome } from "../rollout/index.js";
import type { RunEnd, RunInfo, RunLock, RunStore, StoredEpisode } from "../rollout/store/index.js";

export interface EvalBook {
  /** Id of the run; undefined where none is kept. */
  readonly run: string | undefined;
  /** What an earlier part of it has played. */
  readonly before: readonly EpisodeOutcome[];
  add(episodes: readonly StoredEpisode[]): void;
  end(status: RunEnd): void;
  /** Idempotent. */
  close(): void;
}

export interface BookOptions {
  /** File of the store; the default one if unsaid. */
  store?: string | undefined;
  /** The id, or its beginning, of a run that is to go on. */
  resume?: string | undefined;
}

/** Of an evaluation that is not kept. */
export const noBook: EvalBook = {
  run: undefined,
  before: [],
  add: () => undefined,
  end: () => undefined,
  close: () => undefined,
};

/** Begins a run, or goes on with one. Throws `unknown_run`, and `bad_request` for one that was played otherwise. */
export async function openBook(lock: RunLock, options: BookOptions): Promise<EvalBook> {
  const [{ openRunStore, lockDifferences }, { outcomesOf }] = await Promise.all([
    import("../rollout/store/index.js"),
    import("../rollout/index.js"),
  ]);
  const store = openRunStore(options.store);
  try {
    if (options.resume === undefined) {
      const alike = store
        .runs({ taskSet: lock.taskSet, operator: lock.operator })
        .find((one) => one.status !== "finished" && lockDifferences(one.lock, lock).length === 0);
      const run = store.begin(lock);
      if (alike !== undefined) tellOf(alike);
      return book(store, run, []);
    }
    const { id, lock: kept } = store.named(options.resume);
    const [first, ...others] = lockDifferences(kept, lock);
    if (first !== undefined) {
      const all = [first, ...others].map(({ field, a, b }) => `${field} ${String(a)}, now ${String(b)}`);
      throw new ShinkenError("bad_request", `run ${id} was played otherwise: ${all.join("; ")}`, {
        path: "--resume",
        suggestion: "give the command that began it, with --resume",
      });
    }
    return book(store, id, outcomesOf(store.episodes(id)));
  } catch (error) {
    store.close();
    throw error;
  }
}

/** What can be gone on with, for the same command again. */
function tellOf({ id, status, episodes }: RunInfo): void {
  process.stderr.write(
    `an earlier run of this command is ${status === "open" ? "still open" : status}, with ${episodes} episodes: --resume ${id.slice(0, 8)} goes on with it; this is a new one\n`,
  );
}

function book(store: RunStore, run: string, before: readonly EpisodeOutcome[]): EvalBook {
  return {
    run,
    before,
    add: (episodes) => store.addAll(run, episodes),
    end: (status) => store.end(run, status),
    close: () => store.close(),
  };
}
