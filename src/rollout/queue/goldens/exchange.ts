/** Gets a job's golden from the nodes that announce it, before the machine would make it anew. */
import { ShinkenError } from "../../../errors/index.js";
import type { ExpectedGolden } from "../../../sandbox/microvm/golden-key.js";
import type { JobQueue, NodeNotice } from "../types.js";
import { type Fetched, fetchGolden, type FetchLimits } from "./fetch.js";
import type { GoldenInventory } from "./inventory.js";

export interface ExchangeOptions {
  queue: JobQueue;
  /** Of this node. */
  node: string;
  inventory: GoldenInventory;
  folder: string;
  /** Shown to other nodes. */
  token?: string | undefined;
  /** Ends every transfer. */
  signal: AbortSignal;
  limits?: Partial<FetchLimits> | undefined;
  onEvent?: ((event: ExchangeEvent) => void) | undefined;
}

/** What became of one file. `made`: nobody gave it, so that this node makes it. */
export type ExchangeEvent =
  | ({ what: "fetched"; key: string; from: string } & Fetched)
  | { what: "failed"; key: string; from: string; error: ShinkenError }
  | { what: "made"; key: string; asked: number };

export interface ExchangeTally {
  fetched: number;
  fetchedBytes: number;
  fetchMs: number;
  /** Transfers that failed. */
  failed: number;
  /** Goldens that this node has to make. */
  made: number;
}

/** Nodes that are asked for one golden, one after the other. */
const maxAsked = 3;

export class GoldenExchange {
  readonly tally: ExchangeTally = { fetched: 0, fetchedBytes: 0, fetchMs: 0, failed: 0, made: 0 };
  readonly #options: ExchangeOptions;
  /** By name: jobs of one golden share one search. */
  readonly #searches = new Map<string, Promise<void>>();

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** Ends once the golden is there or nobody gives it; then whoever plays makes it. Rejects only where `signal` is aborted. */
  async ensure(name: string, signal: AbortSignal): Promise<void> {
    let search = this.#searches.get(name);
    if (search === undefined) {
      search = this.#search(name).finally(() => this.#searches.delete(name));
      this.#searches.set(name, search);
    }
    await Promise.race([search, aborted(signal)]);
  }

  async #search(name: string): Promise<void> {
    const { inventory, queue, node } = this.#options;
    const missing = await inventory.missing(name);
    if (missing.length === 0) return;
    // A queue that does not answer is no reason not to play.
    const nodes = await queue.nodes().catch((): NodeNotice[] => []);
    const holders = nodes.flatMap((notice) =>
      notice.node !== node && notice.url !== null && notice.goldens.includes(name) ? [notice.url] : [],
    );
    for (const expected of missing) await this.#get(expected, shuffled(holders).slice(0, maxAsked));
  }

  async #get(expected: ExpectedGolden, urls: readonly string[]): Promise<void> {
    const { folder, token, signal, limits, onEvent } = this.#options;
    const { key } = expected;
    for (const url of urls) {
      try {
        const fetched = await fetchGolden(expected, { url, token, folder, signal, limits });
        this.tally.fetched += 1;
        this.tally.fetchedBytes += fetched.bytes;
        this.tally.fetchMs += fetched.transferMs;
        onEvent?.({ what: "fetched", key, from: url, ...fetched });
        return;
      } catch (cause) {
        const error =
          cause instanceof ShinkenError
            ? cause
            : new ShinkenError("golden_transfer", String(cause), { cause });
        this.tally.failed += 1;
        onEvent?.({ what: "failed", key, from: url, error });
        if (signal.aborted) return;
      }
    }
    this.tally.made += 1;
    onEvent?.({ what: "made", key, asked: urls.length });
  }
}

/** So that not all nodes that lack a golden ask the same one first. */
function shuffled<T>(given: readonly T[]): T[] {
  return given
    .map((value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => {
      reject(
        signal.reason instanceof Error ? signal.reason : new ShinkenError("cancelled", "the job was ended"),
      );
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
