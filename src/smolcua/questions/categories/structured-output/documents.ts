/** Documents: paths into them, layers of them, patches to them. */
import { crossed } from "../../crossed.js";
import type { Scenario } from "../../types.js";
import { plainWords } from "../../words.js";
import { record } from "./record.js";

/** Items of an array are counted from 0, or from the end below 0. */
export const jsonPaths: Scenario = {
  name: "json-paths",
  draw(random) {
    const [list = "", other = ""] = random.some(["orders", "rooms", "routes", "tasks", "plots", "teams"], 2);
    const [inner = "", leaf = ""] = random.some(["tags", "parts", "days", "lines"], 2);
    const words = random.some(plainWords, 12);
    const document = {
      [list]: [0, 1, 2].map((at) => ({ [inner]: words.slice(at * 2, at * 2 + 2) })),
      [other]: { [leaf]: words.slice(6, 10) },
    };
    const [i, j, k] = [random.between(0, 2), random.between(0, 1), random.between(0, 3)];
    const negative = random.chance(0.5);
    const first = words[i * 2 + j] ?? "";
    const firstSlip = words[(i === 0 ? 1 : i - 1) * 2 + j] ?? "";
    const second = words[6 + k] ?? "";
    const secondSlip = words[6 + (k === 0 ? 1 : k === 3 ? 2 : k + random.pick([1, -1]))] ?? "";
    return {
      situation: `A document:\n  ${JSON.stringify(document)}\nIn a path, [0] is the first item of an array, [1] the second; [-1] is the last, [-2] the one before it.`,
      question: `What do the paths ${list}[${i}].${inner}[${j}] and ${other}.${leaf}[${negative ? k - 4 : k}] give?`,
      fields: ["first", "second"],
      ...crossed(record(["first", "second"]), [first, firstSlip], [second, secondSlip]),
    };
  },
};

const settingNames = ["mode", "theme", "region", "cache", "format", "queue", "layout", "backend"] as const;

/** The stronger layer wins, where it has the key at all. */
export const layers: Scenario = {
  name: "layers",
  draw(random) {
    const keys = random.some(settingNames, 2);
    const order = random.shuffled(["defaults", "file", "flags"] as const);
    const values = random.some(plainWords, 6);
    const has = keys.map(() => order.map((layer) => layer === "defaults" || random.chance(0.6)));
    const layerLines = order.map((layer, at) => {
      const own = keys.flatMap((key, n) =>
        has[n]?.[at] === true ? [`${key} = ${values[n * 3 + at] ?? ""}`] : [],
      );
      return `  ${layer}: ${own.length === 0 ? "nothing" : own.join(", ")}`;
    });
    const strongest = (n: number, falling: boolean) => {
      const places = [0, 1, 2].filter((at) => has[n]?.[at] === true);
      return values[n * 3 + ((falling ? places[0] : places.at(-1)) ?? 0)] ?? "";
    };
    const earlierWins = random.chance(0.5);
    const shown = random.shuffled(layerLines);
    return {
      situation: `A program reads its settings from three layers. For each key ${earlierWins ? "the first" : "the last"} layer that has it counts, in the order ${order.join(", ")}:\n${shown.join("\n")}`,
      question: "Which settings does the program run with?",
      fields: keys,
      ...crossed(
        record(keys),
        [strongest(0, earlierWins), strongest(0, !earlierWins)],
        [strongest(1, earlierWins), strongest(1, !earlierWins)],
      ),
    };
  },
};

/** In a merge patch null takes a key away, and a key that is not named stays. */
export const mergePatch: Scenario = {
  name: "merge-patch",
  draw(random) {
    const keys = random.some(settingNames, 2);
    const [kept, ...rest] = settingNames.filter((name) => !keys.includes(name));
    const changes = keys.map((key) => {
      const [before = "", after = ""] = random.some(plainWords, 2);
      const kind = random.pick(["null", "null", "set", "silent", "new"] as const);
      const old = kind === "new" ? "absent" : before;
      const now = { null: "absent", set: after, silent: before, new: after }[kind];
      const slip = { null: before, set: before, silent: "absent", new: "absent" }[kind];
      return {
        now,
        slip,
        before: old === "absent" ? [] : [[key, old] as const],
        patch: kind === "silent" ? [] : [[key, kind === "null" ? null : after] as const],
      };
    });
    const spare = [[kept ?? rest[0] ?? "", random.pick(plainWords)] as const];
    const patch = changes.flatMap((change) => change.patch);
    const [one, two] = changes;
    if (one === undefined || two === undefined) throw new RangeError("no changes");
    return {
      situation: `A configuration is ${JSON.stringify(
        Object.fromEntries(random.shuffled([...changes.flatMap((change) => change.before), ...spare])),
      )}. This patch is merged into it: ${JSON.stringify(
        Object.fromEntries(patch),
      )}. A key whose value in the patch is null is absent from the result; other keys of the patch get the value given there, keys that the patch does not name keep theirs.`,
      question: `What is the state of ${keys.join(" and ")} in the result?`,
      fields: keys,
      ...crossed(record(keys), [one.now, one.slip], [two.now, two.slip]),
    };
  },
};
