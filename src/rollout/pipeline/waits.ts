import { quantile } from "../statistics/index.js";

/** Waits that are remembered; older ones give way, so that a pool that lives for months does not grow. */
const kept = 4_096;

/** The latest waiting times of a pool. */
export class Waits {
  private readonly latest: number[] = [];
  private next = 0;

  add(ms: number): void {
    this.latest[this.next] = ms;
    this.next = (this.next + 1) % kept;
  }

  /** Milliseconds; null where nobody has waited for anything. */
  spread(): { p50: number | null; p99: number | null } {
    return { p50: quantile(this.latest, 0.5), p99: quantile(this.latest, 0.99) };
  }
}
