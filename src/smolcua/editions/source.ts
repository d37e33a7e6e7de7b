/** The source edition: every position of every stratum, in every pass. */
import { createHash } from "node:crypto";
import { scenariosOf } from "../questions/categories/index.js";
import { instantiate } from "../questions/instance.js";
import { Random } from "../questions/random.js";
import { categories, type Category, type Key, type Question, responseFormats } from "../questions/types.js";

export interface SourceOptions {
  /** Names the content; an edition's seed is never used for another one. */
  seed: string;
  passes: number;
  /** Positions of each category and response format. */
  perStratum: number;
  /** Number of the first position of a stratum: splits that share no position begin elsewhere. */
  firstPosition: number;
  /** All of them unless said. */
  categories?: readonly Category[];
}

export interface Items {
  questions: Question[];
  keys: Key[];
}

/** Places of right options of one category in one pass: each of the four as often as the others, in a drawn order. */
function places(options: SourceOptions, category: Category, pass: number): number[] {
  const count = options.perStratum * responseFormats.length;
  const random = new Random([options.seed, "places", category, pass].join("\0"));
  return random.shuffled(Array.from({ length: count }, (_, at) => at % 4));
}

/** Draws that may repeat an instance of the same position before the scenario counts as exhausted. */
const drawsAtMost = 64;

/**
 * Builds all items, in the order of categories, passes, formats and positions. A position has one scenario in all passes, and no two
 * items of the edition have the same content. Throws a RangeError where a scenario cannot give enough of it.
 */
export function buildSource(options: SourceOptions): Items {
  const items: Items = { questions: [], keys: [] };
  const seen = new Set<string>();
  for (const category of options.categories ?? categories) {
    const scenarios = scenariosOf(category);
    for (let pass = 1; pass <= options.passes; pass += 1) {
      const right = places(options, category, pass);
      let at = 0;
      for (const format of responseFormats) {
        for (let index = 0; index < options.perStratum; index += 1) {
          const position = options.firstPosition + index;
          const scenario = scenarios[scenarioAt(options.seed, category, format, position, scenarios.length)];
          if (scenario === undefined) throw new RangeError(`${category} has no scenarios`);
          const place = { category, format, position, pass, right: right[at] ?? 0 };
          at += 1;
          const item = firstNew(seen, (draw) =>
            instantiate(scenario, { ...place, seed: `${options.seed}${draw === 0 ? "" : `\0${draw}`}` }),
          );
          if (item === null) throw new RangeError(`${category}/${scenario.name} has too few instances`);
          items.questions.push(item.question);
          items.keys.push(item.key);
        }
      }
    }
  }
  return items;
}

function firstNew(seen: Set<string>, draw: (n: number) => { question: Question; key: Key }) {
  for (let n = 0; n < drawsAtMost; n += 1) {
    const item = draw(n);
    const content = contentHash(item.question);
    if (seen.has(content)) continue;
    seen.add(content);
    return item;
  }
  return null;
}

/** Scenarios of a stratum's positions: all of a category's in turn, begun at another one in each stratum. */
function scenarioAt(seed: string, category: string, format: string, position: number, count: number): number {
  const start = createHash("sha256").update(`${seed}\0${category}\0${format}`).digest().readUInt32BE(0);
  return (start + position) % count;
}

/** What two instances may not share: the content, whatever its order and format. In hex. */
export function contentHash({ situation, question, options }: Question): string {
  return createHash("sha256")
    .update(JSON.stringify([situation, question, [...options].sort()]))
    .digest("hex");
}
