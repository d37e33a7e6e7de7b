/** A stream of numbers that a seed text names: the same on every platform and in every version. */
import { createHash } from "node:crypto";

export class Random {
  readonly #seed: string;
  #block = 0;
  #bytes = Buffer.alloc(0);

  /** SHA-256 of seed and counter; the quality matters little, that nobody ever changes it matters much. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  /** A whole number in [0, count), each as likely. `count` from 1 to 2^31. */
  below(count: number): number {
    // Draws beyond the last whole multiple would favour small numbers.
    const limit = 2 ** 32 - (2 ** 32 % count);
    for (;;) {
      const drawn = this.#next();
      if (drawn < limit) return drawn % count;
    }
  }

  /** A whole number in [least, most]. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(share: number): boolean {
    return this.#next() < share * 2 ** 32;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  }

  /** `count` different items, in the order drawn. */
  some<T>(items: readonly T[], count: number): T[] {
    if (count > items.length) throw new RangeError(`${count} of ${items.length} items`);
    return this.shuffled(items).slice(0, count);
  }

  shuffled<T>(items: readonly T[]): T[] {
    const list = [...items];
    for (let at = list.length - 1; at > 0; at -= 1) {
      const other = this.below(at + 1);
      [list[at], list[other]] = [list[other] as T, list[at] as T];
    }
    return list;
  }

  #next(): number {
    if (this.#bytes.length < 4) {
      this.#bytes = createHash("sha256").update(`${this.#seed}\0${this.#block}`).digest();
      this.#block += 1;
    }
    const value = this.#bytes.readUInt32BE(0);
    this.#bytes = this.#bytes.subarray(4);
    return value;
  }
}
