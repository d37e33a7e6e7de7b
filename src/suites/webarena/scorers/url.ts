/** WebArena's `url_match`: the address of the last page against reference addresses. */
import { z } from "zod";
import { stripEnd } from "../../python/text.js";
import { parseQuery, parseUrl } from "../../python/urls.js";
import { defineScorer, fault, given, type Outcome, unit } from "../../scorer.js";
import { alternatives } from "./text.js";

const input = z.strictObject({
  /** The page's address. */
  url: z.string(),
  /** One address, or several with ` |OR| ` between them. */
  reference_url: z.string(),
  url_note: z.string().optional(),
});
type Input = z.output<typeof input>;

interface Place {
  /** Host and path, without slashes at the end. */
  base: string;
  query: Map<string, string[]>;
}

function placeOf(url: string): Outcome<Place> {
  const parts = parseUrl(url);
  if (parts.fault !== undefined) return parts;
  const { netloc, path, query } = parts.value;
  return given({ base: stripEnd(netloc + path, "/"), query: parseQuery(query) });
}

function places({ url, reference_url, url_note }: Input): Outcome<{ at: Place; wanted: Place[] }> {
  const rule = url_note ?? "GOLD in PRED";
  if (rule !== "GOLD in PRED") return fault("ValueError", `Unknown matching rule: ${rule}`);
  const wanted: Place[] = [];
  for (const reference of alternatives(reference_url)) {
    const place = placeOf(stripEnd(reference, "/"));
    if (place.fault !== undefined) return place;
    wanted.push(place.value);
  }
  const at = placeOf(stripEnd(url, "/"));
  return at.fault === undefined ? given({ at: at.value, wanted }) : at;
}

/** Any reference that is a part of the address will do, and for each name in any query one of all references' values. */
function faithful(visit: Input): Outcome<number> {
  const found = places(visit);
  if (found.fault !== undefined) return found;
  const { at, wanted } = found.value;
  const names = new Map<string, Set<string>>();
  for (const { query } of wanted) {
    for (const [name, values] of query) {
      names.set(name, new Set([...(names.get(name) ?? []), ...values]));
    }
  }
  const base = wanted.some((one) => at.base.includes(one.base));
  const queries = [...names].every(([name, values]) =>
    (at.query.get(name) ?? []).some((value) => values.has(value)),
  );
  return given(Number(base && queries));
}

/** One reference must hold by itself: the same host and path, and all that its query asks. */
function strict(visit: Input): Outcome<number> {
  const found = places(visit);
  if (found.fault !== undefined) return found;
  const { at, wanted } = found.value;
  const holds = ({ base, query }: Place): boolean =>
    base !== "" &&
    base === at.base &&
    [...query].every(([name, values]) => values.every((value) => at.query.get(name)?.includes(value)));
  return given(Number(wanted.some(holds)));
}

export const waUrl = defineScorer({
  name: "wa.url",
  version: 1,
  input,
  score: { faithful, strict },
  reward: unit,
});
