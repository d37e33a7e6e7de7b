/** Which goldens a node's cache folder holds, by the names that jobs have for them. */
import { goldenOrigins } from "../../../env/index.js";
import type { LoadedTask } from "../../../env/task/index.js";
import { heldGolden } from "../../../sandbox/microvm/golden-adopt.js";
import { type ExpectedGolden, expectedGolden } from "../../../sandbox/microvm/golden-key.js";
import { goldenOf, variantOf } from "../evaluation.js";

/** Names that a notice may have. */
const maxNames = 4_096;

export class GoldenInventory {
  readonly #tasks: readonly LoadedTask[];
  readonly #folder: string;
  readonly #cacheDir: string | undefined;
  /** By name, the files that an episode needs. In the order in which they were learnt. */
  readonly #known = new Map<string, ExpectedGolden[]>();
  readonly #seeds = new Set<number>();

  /** Knows from the start the goldens of all tasks whose setup does not depend on parameters. */
  constructor(tasks: readonly LoadedTask[], folder: string, cacheDir?: string) {
    this.#tasks = tasks;
    this.#folder = folder;
    this.#cacheDir = cacheDir;
    this.learn(0);
  }

  /** Parameters, and with them goldens, depend on a run's seed: all of that run are known from then on. */
  learn(runSeed: number): void {
    if (this.#seeds.has(runSeed)) return;
    this.#seeds.add(runSeed);
    for (const task of this.#tasks) {
      const variant = variantOf(task, runSeed);
      const name = goldenOf(variant);
      if (this.#known.has(name)) continue;
      try {
        const expected = goldenOrigins(variant).map((origin) => expectedGolden(origin, this.#cacheDir));
        this.#known.set(name, expected);
      } catch {
        // Without its image nothing of it can be held; the job itself says so.
      }
    }
  }

  /** Names of those of which every file is there; of very many, those learnt last. */
  async held(): Promise<string[]> {
    const names: string[] = [];
    for (const name of this.#known.keys()) if ((await this.missing(name)).length === 0) names.push(name);
    return names.slice(-maxNames);
  }

  /** The files of that name that are not there; none for a name that is not known. */
  async missing(name: string): Promise<ExpectedGolden[]> {
    const found: ExpectedGolden[] = [];
    for (const expected of this.#known.get(name) ?? [])
      if ((await heldGolden(this.#folder, expected.key)) === null) found.push(expected);
    return found;
  }
}
