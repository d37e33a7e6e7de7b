/**
 * How many ready episodes should wait. By Little's law as many are in preparation as are pulled in the time that one takes: the rate of
 * pulls times the time of a preparation. Pulls do not come evenly, so two standard deviations of a Poisson count are added, and one more
 * for each pull that found nothing ready. Rate and additions fade by themselves: a pool that nobody pulls from is empty soon.
 */

/** Milliseconds in which what was seen fades to its e-th part. */
const fadeMs = 10_000;
/** Weight of the latest preparation in their mean. */
const freshness = 0.2;
/** Standard deviations of the count of pulls that are kept ready for. */
const deviations = 2;
/** Less demand than this is none. */
const negligible = 0.05;

export class Demand {
  readonly #bounds: { readonly min: number; readonly max: number };
  /** Pulls, and pulls that had to wait, each faded by its age. */
  #pulls = 0;
  #misses = 0;
  #at = 0;
  #prepareMs: number | null = null;

  constructor(bounds: { readonly min: number; readonly max: number }) {
    this.#bounds = bounds;
  }

  /** Somebody has pulled; `ready`: an episode was there for them. */
  pulled(now: number, ready: boolean): void {
    this.#fade(now);
    this.#pulls += 1;
    if (!ready) this.#misses = Math.min(this.#misses + 1, this.#bounds.max);
  }

  /** An episode was made ready in so many milliseconds. */
  prepared(ms: number): void {
    this.#prepareMs = this.#prepareMs === null ? ms : this.#prepareMs + freshness * (ms - this.#prepareMs);
  }

  /** Pulls a second. */
  rate(now: number): number {
    this.#fade(now);
    return (this.#pulls / fadeMs) * 1000;
  }

  /** Mean milliseconds of a preparation; null before the first. */
  get prepareMs(): number | null {
    return this.#prepareMs;
  }

  target(now: number): number {
    this.#fade(now);
    const mean = (this.#pulls / fadeMs) * (this.#prepareMs ?? 0);
    const wanted = Math.ceil(mean + deviations * Math.sqrt(mean) + this.#misses - negligible);
    return Math.min(this.#bounds.max, Math.max(this.#bounds.min, wanted));
  }

  #fade(now: number): void {
    const left = Math.exp(-Math.max(0, now - this.#at) / fadeMs);
    this.#pulls *= left;
    this.#misses *= left;
    this.#at = Math.max(now, this.#at);
  }
}
