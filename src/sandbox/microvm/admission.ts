/** Lets machines be made only while there is memory for them: better a refusal with a code than a host that swaps. */
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { type MemoryBound, memoryBounds } from "../host-memory.js";

/** What a fork is expected to take until its pages show in the host's figures: twice what a ready one has written. */
export const FORK_BYTES = 2 * 1024 * 1024;
/** The same for a machine that boots. */
export const BOOT_BYTES = 256 * 1024 * 1024;
export const DEFAULT_MEMORY_SHARE = 0.9;

/** The host's figures are read no more often than this; in between every fork counts as expected. */
const READ_EVERY_MS = 50;
/** Machines at rest are asked to let go of their caches no more often than this. */
const RELIEVE_EVERY_MS = 1_000;

const shareSchema = z.number().gt(0).max(1);

export interface AdmissionOptions {
  /** Share of every memory bound, above 0 and up to 1, that may be in use once a machine has been made. */
  share?: number | undefined;
  /** Frees what can be done without; asked before a machine is refused. */
  relieve?: (() => Promise<void>) | undefined;
  /** The bounds as they are now. */
  bounds?: (() => MemoryBound[]) | undefined;
  /** Milliseconds of a monotonic clock. */
  now?: (() => number) | undefined;
}

export class Admission {
  readonly #share: number;
  readonly #relieve: () => Promise<void>;
  readonly #read: () => MemoryBound[];
  readonly #now: () => number;
  #bounds: MemoryBound[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #relievedAt = Number.NEGATIVE_INFINITY;
  #relieving: Promise<void> | null = null;
  /** Bytes expected by machines that are being made. */
  #pending = 0;
  /** Of those and of others made since, what the last reading cannot show. */
  #unseen = 0;
  #refused = 0;

  /** @throws ShinkenError `bad_request` for a share that is none. */
  constructor(options: AdmissionOptions = {}) {
    this.#share = parseOrThrow(shareSchema, options.share ?? DEFAULT_MEMORY_SHARE, "bad_request", [
      "memoryShare",
    ]);
    this.#relieve = options.relieve ?? (() => Promise.resolve());
    this.#read = options.bounds ?? memoryBounds;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Machines that were refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Makes a machine, or a checkpoint of one, that is expected to take `bytes`. Grade forks may use half of what is left to others,
   * so that an episode which was let in can also be graded.
   * @throws ShinkenError `out_of_memory` without having called `make`
   */
  async during<T>(
    kind: "ordinary" | "grade" | "checkpoint",
    bytes: number,
    make: () => Promise<T>,
  ): Promise<T> {
    const share = kind === "grade" ? (1 + this.#share) / 2 : this.#share;
    if (this.#tight(share, bytes) !== null) await this.#relieved();
    const tight = this.#tight(share, bytes);
    if (tight !== null) {
      if (kind === "checkpoint") throw refusal(tight, share, "one more checkpoint");
      this.#refused += 1;
      throw refusal(tight, share, "one more machine");
    }
    this.#pending += bytes;
    this.#unseen += bytes;
    try {
      return await make();
    } finally {
      this.#pending -= bytes;
    }
  }

  /** The bound that `bytes` more would break. */
  #tight(share: number, bytes: number): MemoryBound | null {
    if (this.#now() - this.#readAt >= READ_EVERY_MS) {
      this.#bounds = this.#read();
      this.#readAt = this.#now();
      this.#unseen = this.#pending;
    }
    const more = this.#unseen + bytes;
    return (
      this.#bounds.find(
        ({ totalBytes, availableBytes }) => totalBytes - availableBytes + more > share * totalBytes,
      ) ?? null
    );
  }

  /** Has what can be done without freed, once for all who ask meanwhile, and reads anew. */
  async #relieved(): Promise<void> {
    if (this.#relieving === null) {
      if (this.#now() - this.#relievedAt < RELIEVE_EVERY_MS) return;
      this.#relieving = this.#relieve().finally(() => {
        this.#relieving = null;
        this.#relievedAt = this.#now();
        this.#readAt = Number.NEGATIVE_INFINITY;
      });
    }
    await this.#relieving;
  }
}

function refusal(
  { name, totalBytes, availableBytes }: MemoryBound,
  share: number,
  what: string,
): ShinkenError {
  const mib = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;
  return new ShinkenError(
    "out_of_memory",
    `${mib(totalBytes - availableBytes)} of ${mib(totalBytes)} of ${name} are in use, and ${what} would pass ${Number((share * 100).toFixed(1))} %`,
    { suggestion: "close machines or sessions, or try again when some have ended" },
  );
}
