import { show } from "../evidence.js";
import type { Judgement } from "../value.js";
import { Demands, type GroundList, type GroundSet } from "./ground.js";
import { matchByKey } from "./matching.js";
import { normaliseText } from "./normalise.js";
import { inRange, rangeText } from "./range.js";

type Item = string | number;

/** A text and a number never have the same key. */
const keyOf = (item: Item): string => JSON.stringify(item);

/** Judges a list (order and multiplicity count) or a set (order does not, multiplicity unless `multiset: false`). */
export function judgeList(assertion: GroundList | GroundSet, list: readonly Item[]): Judgement {
  const norm = (item: Item): Item =>
    typeof item === "string" ? normaliseText(item, assertion.normalise) : item;
  const unique = (items: Item[]): Item[] =>
    assertion.type === "set" && !assertion.multiset
      ? [...new Map(items.map((item) => [keyOf(item), item])).values()]
      : items;
  const seen = unique(list.map(norm));
  const demands = new Demands();
  if (assertion.equals !== undefined) {
    const wanted = unique(assertion.equals.map(norm));
    const matched =
      assertion.type === "list"
        ? wanted.filter((item, index) => seen[index] === item).length
        : matchByKey(wanted, seen, keyOf);
    const whole = Math.max(wanted.length, seen.length);
    const share = whole === 0 ? 1 : matched / whole;
    demands.addScore(
      assertion.partial ? share : Math.floor(share),
      `equals ${show(wanted)}: saw ${show(seen)}`,
    );
  }
  const keys = new Set(seen.map(keyOf));
  if (assertion.contains !== undefined) {
    const missing = assertion.contains.filter((item) => !keys.has(keyOf(norm(item))));
    const share = (assertion.contains.length - missing.length) / assertion.contains.length;
    const evidence =
      missing.length === 0
        ? `contains ${show(assertion.contains)}`
        : `lacks ${show(missing)}: saw ${show(seen)}`;
    demands.addScore(assertion.partial ? share : Math.floor(share), evidence);
  }
  for (const item of assertion.excludes ?? []) {
    demands.add(!keys.has(keyOf(norm(item))), `excludes ${show(item)}: saw ${show(seen)}`);
  }
  if (assertion.length !== undefined) {
    demands.add(
      inRange(seen.length, assertion.length),
      `length ${rangeText(assertion.length)}: saw ${seen.length}`,
    );
  }
  return demands.judge();
}
