/** Episodes that nobody plays yet, in the order in which they are given out. */
import type { Environment, ResetResult } from "../../env/environment.js";
import type { EpisodeName } from "./events.js";
import type { Group } from "./group.js";
import type { Waiter } from "./waiter.js";

/** An episode that is forked and reset. */
export interface PreparedEpisode {
  readonly environment: Environment;
  readonly reset: ResetResult;
  /** Frees all that it holds; it was never played. */
  discard(): Promise<void>;
}

export class PlannedEpisode {
  readonly group: Group;
  readonly name: EpisodeName;
  /** Whoever gets it. */
  waiter: Waiter | undefined;
  prepared: PreparedEpisode | undefined;
  preparing = false;
  /** It is not wanted any more: what is being prepared is freed as soon as it is there. */
  dropped = false;

  constructor(group: Group, name: EpisodeName) {
    this.group = group;
    this.name = name;
  }

  /** What the maker needs to know; all replicas of a group have its parameters. */
  get params(): Record<string, unknown> | undefined {
    return this.group.params;
  }
}

/** Kept in order: higher priorities first, then earlier groups, then lower replicas. */
export class Plan implements Iterable<PlannedEpisode> {
  #episodes: PlannedEpisode[] = [];

  get size(): number {
    return this.#episodes.length;
  }

  [Symbol.iterator](): Iterator<PlannedEpisode> {
    return this.#episodes[Symbol.iterator]();
  }

  /** The latest first. */
  reversed(): PlannedEpisode[] {
    return [...this.#episodes].reverse();
  }

  add(episode: PlannedEpisode): void {
    const after = this.#episodes.findIndex((other) => compare(episode, other) < 0);
    if (after < 0) this.#episodes.push(episode);
    else this.#episodes.splice(after, 0, episode);
  }

  remove(episode: PlannedEpisode): boolean {
    const index = this.#episodes.indexOf(episode);
    if (index >= 0) this.#episodes.splice(index, 1);
    return index >= 0;
  }

  has(episode: PlannedEpisode): boolean {
    return this.#episodes.includes(episode);
  }

  count(which: (episode: PlannedEpisode) => boolean): number {
    return this.#episodes.reduce((sum, episode) => sum + (which(episode) ? 1 : 0), 0);
  }
}

function compare(one: PlannedEpisode, other: PlannedEpisode): number {
  const [a, b] = [one.group.drawn, other.group.drawn];
  return b.priority - a.priority || a.number - b.number || one.name.replica - other.name.replica;
}
