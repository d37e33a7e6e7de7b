/**
 * Observations as changes of the one before: a long text whose beginning and end have stayed is told by its middle. Places are
 * paths of fields, so that a list that grows changes only what is new.
 */
import { ShinkenError } from "../../errors/index.js";
import { mapLeaves } from "./leaves.js";
import { isWellFormed } from "./text.js";
import { TextDelta } from "./values.js";
import { deltaChain, deltaChars } from "./version.js";

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
    const encoded = mapLeaves(observation, (path, value) => {
      if (typeof value !== "string" || value.length < deltaChars) return value;
      const before = this.#known.get(path);
      const delta = before !== undefined && before.chain < deltaChain ? between(before.text, value) : null;
      seen.set(path, { text: value, chain: delta === null ? 0 : (before?.chain ?? 0) + 1 });
      return delta ?? value;
    });
    this.#known = seen;
    return encoded;
  }

  /**
   * The observation as it was. `grown` is told the length of each text before it is made.
   * @throws ShinkenError `bad_bundle` for a change of a text that is not there.
   */
  decode(observation: unknown, grown: (codeUnits: number) => void = () => undefined): unknown {
    const seen = new Map<string, Known>();
    const decoded = mapLeaves(observation, (path, value) => {
      let text = value;
      if (value instanceof TextDelta) {
        const before = this.#known.get(path)?.text;
        if (before === undefined || value.prefix + value.suffix > before.length) throw groundless(path);
        grown(value.prefix + value.middle.length + value.suffix);
        text = before.slice(0, value.prefix) + value.middle + before.slice(before.length - value.suffix);
      }
      if (typeof text === "string" && text.length >= deltaChars) seen.set(path, { text, chain: 0 });
      return text;
    });
    this.#known = seen;
    return decoded;
  }
}

function groundless(path: string): ShinkenError {
  return new ShinkenError("bad_bundle", `${path} is told as a change of a text that is not there`, { path });
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
