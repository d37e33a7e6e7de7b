/**
 * Observations as changes of the one before: a long text whose beginning and end have stayed is told by its middle. Places are
 * paths of fields, so that a list that grows changes only what is new.
 */
import { ShinkenError } from "../../errors/index.js";
import { deltaChain, deltaChars } from "./version.js";
import { TextDelta } from "./values.js";

/** Long texts of the observation before, by path. */
interface Known {
  text: string;
  /** How many changes lead to it from a text that was written out. */
  chain: number;
}

/** At least so many code units must stay, or the text is written out. */
const worthwhile = 64;

/** One for each file, on either side: what it has seen decides what a delta means. */
export class ObservationDeltas {
  #known = new Map<string, Known>();

  /** The observation with its long texts as changes, where that is shorter. */
  encode(observation: unknown): unknown {
    const seen = new Map<string, Known>();
    const encoded = mapTexts(observation, (path, value) => {
      if (typeof value !== "string" || value.length < deltaChars) return value;
      const before = this.#known.get(path);
      const delta = before !== undefined && before.chain < deltaChain ? between(before.text, value) : null;
      seen.set(path, { text: value, chain: delta === null ? 0 : (before?.chain ?? 0) + 1 });
      return delta ?? value;
    });
    this.#known = seen;
    return encoded;
  }

  /** The observation as it was. Rejects a change of a text that is not there. */
  decode(observation: unknown): unknown {
    const seen = new Map<string, Known>();
    const decoded = mapTexts(observation, (path, value) => {
      let text = value;
      if (value instanceof TextDelta) text = this.#apply(path, value);
      if (typeof text === "string" && text.length >= deltaChars) seen.set(path, { text, chain: 0 });
      return text;
    });
    this.#known = seen;
    return decoded;
  }

  #apply(path: string, { prefix, suffix, middle }: TextDelta): string {
    const before = this.#known.get(path)?.text;
    if (before === undefined || prefix + suffix > before.length)
      throw new ShinkenError("bad_bundle", `${path} is told as a change of a text that is not there`, {
        path,
      });
    return before.slice(0, prefix) + middle + before.slice(before.length - suffix);
  }
}

function between(before: string, now: string): TextDelta | null {
  const most = Math.min(before.length, now.length);
  let prefix = 0;
  while (prefix < most && before.charCodeAt(prefix) === now.charCodeAt(prefix)) prefix += 1;
  let suffix = 0;
  while (
    suffix < most - prefix &&
    before.charCodeAt(before.length - 1 - suffix) === now.charCodeAt(now.length - 1 - suffix)
  )
    suffix += 1;
  // The middle is UTF-8 in the file: it must not begin or end within a surrogate pair.
  if (prefix > 0 && isHigh(before.charCodeAt(prefix - 1))) prefix -= 1;
  if (suffix > 0 && isLow(before.charCodeAt(before.length - suffix))) suffix -= 1;
  if (prefix + suffix < worthwhile) return null;
  const middle = now.slice(prefix, now.length - suffix);
  return isWellFormed(middle) ? new TextDelta(prefix, suffix, middle) : null;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Without lone surrogates, which UTF-8 cannot say. */
function isWellFormed(text: string): boolean {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
}

/** The same structure, each leaf mapped with its path. */
export function mapTexts(value: unknown, map: (path: string, leaf: unknown) => unknown, path = ""): unknown {
  if (Array.isArray(value)) return value.map((item, at) => mapTexts(item, map, `${path}/${at}`));
  if (isPlain(value)) {
    const entries = Object.entries(value).map(([key, item]) => [key, mapTexts(item, map, `${path}/${key}`)]);
    return Object.fromEntries(entries);
  }
  return map(path, value);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
