/** In which order? Rules are added until one order is left that obeys them all. */
import type { Random } from "../../random.js";
import type { Candidate, Scenario } from "../../types.js";
import { fileNames } from "../../words.js";

const verbs = ["rename", "convert", "compress", "encrypt", "upload", "tag", "sign", "copy"] as const;

interface Rule {
  say: string;
  holds: (order: readonly string[]) => boolean;
}

function rules(steps: readonly string[]): Rule[] {
  const all: Rule[] = [];
  for (const step of steps) {
    all.push({ say: `Do not ${step} first.`, holds: (order) => order[0] !== step });
    all.push({ say: `Do not ${step} last.`, holds: (order) => order.at(-1) !== step });
    for (const other of steps) {
      if (other === step) continue;
      all.push({
        say: `Always ${step} at some time before you ${other}.`,
        holds: (order) => order.indexOf(step) < order.indexOf(other),
      });
      all.push({
        say: `Never ${step} directly after you ${other}.`,
        holds: (order) => order.indexOf(step) !== order.indexOf(other) + 1,
      });
    }
  }
  return all;
}

function orders(steps: readonly string[]): string[][] {
  if (steps.length < 2) return [[...steps]];
  return steps.flatMap((step) => orders(steps.filter((one) => one !== step)).map((rest) => [step, ...rest]));
}

/** Three orders that break one rule each, if there are any. */
function nearMisses(random: Random, all: readonly string[][], wanted: readonly Rule[]): string[][] {
  return random
    .shuffled(all.filter((order) => wanted.filter(({ holds }) => !holds(order)).length === 1))
    .slice(0, 3);
}

/** One rule holds only under a condition, which is met or turns it round. */
export const stepOrder: Scenario = {
  name: "step-order",
  draw(random) {
    const file = random.pick(fileNames);
    const limit = 10 * random.between(2, 40);
    const large = random.chance(0.5);
    const size = large ? limit + random.between(1, 90) : limit - random.between(1, 19);
    for (;;) {
      const steps = random.some(verbs, 4);
      const all = orders(steps);
      const right = random.pick(all);
      const [x = "", y = ""] = random.some(steps, 2);
      const [sooner, later] = right.indexOf(x) < right.indexOf(y) ? [x, y] : [y, x];
      const conditional: Rule = {
        say: large
          ? `If the file is larger than ${limit} MB, ${sooner} before you ${later}, otherwise ${later} before you ${sooner}.`
          : `If the file is larger than ${limit} MB, ${later} before you ${sooner}, otherwise ${sooner} before you ${later}.`,
        holds: (order) => order.indexOf(sooner) < order.indexOf(later),
      };
      const wanted = [conditional];
      let left = all.filter(conditional.holds);
      for (const rule of random.shuffled(rules(steps).filter(({ holds }) => holds(right)))) {
        if (left.length === 1) break;
        const fewer = left.filter(rule.holds);
        if (fewer.length === left.length) continue;
        left = fewer;
        wanted.push(rule);
      }
      const [a, b, c] = nearMisses(random, all, wanted);
      if (a === undefined || b === undefined || c === undefined) continue;
      const option = (order: readonly string[]): Candidate => ({
        text: order.join(", then "),
        values: order,
      });
      const list = `${steps.slice(0, 3).join(", ")} and ${steps[3] ?? ""}`;
      return {
        situation: `The instruction for a file: "${list.charAt(0).toUpperCase()}${list.slice(1)} it, each once, in the one order that obeys all of this. ${random
          .shuffled(wanted)
          .map(({ say }) => say)
          .join(" ")}" The file is ${file}, ${size} MB large.`,
        question: "In which order are the four steps done?",
        fields: ["first", "second", "third", "fourth"],
        right: option(right),
        wrong: [option(a), option(b), option(c)],
      };
    }
  },
};
