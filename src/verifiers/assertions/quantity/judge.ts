/** Quantities: one number and, where the assertion names one, its unit; nothing else may stand in the text. */
import { show } from "../../evidence.js";
import { ContentFault, type Judgement } from "../../value.js";
import { Demands } from "../ground.js";
import type { QuantityAssertion } from "./schema.js";
import { type Unit, unitNamed, unitOf } from "./units.js";

export type GroundQuantity = Omit<QuantityAssertion, "equals"> & { equals?: number };

/** No quantity that people write is longer. */
const TEXT_LIMIT = 200;
const GROUPED = {
  ".": /^\d{1,3}(?:[, '\u00a0\u202f’]\d{3})*(?:\.\d+)?$/,
  ",": /^\d{1,3}(?:[. '\u00a0\u202f’]\d{3})*(?:,\d+)?$/,
};
const PLAIN = { ".": /^(?:\d+\.?\d*|\.\d+)$/, ",": /^(?:\d+,?\d*|,\d+)$/ };
const PARTS =
  /^(?<before>[^\d.,+−-]*)(?<sign>[+−-]?)(?<between>[^\d.,+−-]*)(?<number>[.,]?\d(?:[\d.,' \u00a0\u202f’]*\d)?[.,]?)(?<after>.*)$/su;

/** Judges a text as a quantity. Throws `ContentFault` where it is none. */
export function judgeQuantity(assertion: GroundQuantity, text: string): Judgement {
  const { unit, equals, tolerance, relative_tolerance: relative, min, max, above, below } = assertion;
  const seen = parseQuantity(text, assertion);
  const demands = new Demands();
  const wanted = unit === undefined ? undefined : unitNamed(unit);
  const told = `saw ${show(text)}`;
  if (seen.unit?.dimension !== wanted?.dimension) {
    demands.add(false, `${unit === undefined ? "no unit" : `a quantity in ${unit}`}: ${told}`);
    return demands.judge();
  }
  const value =
    seen.unit === undefined || wanted === undefined ? seen.value : convert(seen.value, seen.unit, wanted);
  if (equals !== undefined) {
    const room = Math.max(tolerance, relative * Math.abs(equals));
    demands.add(closeTo(value, equals, room), `equals ${equals}${room === 0 ? "" : ` ± ${room}`}: ${told}`);
  }
  if (min !== undefined) demands.add(value >= min, `at least ${min}: ${told}`);
  if (max !== undefined) demands.add(value <= max, `at most ${max}: ${told}`);
  if (above !== undefined) demands.add(value > above, `above ${above}: ${told}`);
  if (below !== undefined) demands.add(value < below, `below ${below}: ${told}`);
  return demands.judge();
}

function convert(value: number, from: Unit, to: Unit): number {
  return from.factor === to.factor ? value : (value * from.factor) / to.factor;
}

/** Conversion rounds in the last places; that must not decide. */
function closeTo(value: number, wanted: number, room: number): boolean {
  return Math.abs(value - wanted) <= room + 4 * Number.EPSILON * Math.abs(wanted);
}

interface Quantity {
  value: number;
  unit: Unit | undefined;
}

/** Reads one quantity. Throws `ContentFault` for a text that holds none, several, or other words. */
export function parseQuantity(text: string, options: Pick<QuantityAssertion, "decimal" | "signs">): Quantity {
  const fault = (why: string): ContentFault => new ContentFault(`${show(text)} is no quantity: ${why}`);
  const trimmed = text.length > TEXT_LIMIT ? text : text.normalize("NFKC").trim();
  if (trimmed.length > TEXT_LIMIT) throw fault("it is too long");
  const parts = PARTS.exec(trimmed)?.groups;
  if (parts === undefined) throw fault("it holds no number");
  const { sign = "", number = "" } = parts;
  const { decimal } = options;
  if (!PLAIN[decimal].test(number) && !GROUPED[decimal].test(number))
    throw fault(`${show(number)} is no number with "${decimal}" before its decimals`);
  const digits =
    decimal === "." ? number.replace(/[^\d.]/g, "") : number.replace(/[^\d,]/g, "").replace(",", ".");
  const magnitude = Number(digits);
  const value = sign === "-" || sign === "−" ? -magnitude : magnitude;
  const words = [parts.before, parts.between, parts.after]
    .map((word) => (word ?? "").trim())
    .filter((word) => word !== "");
  const [word, ...others] = words;
  if (word === undefined) return { value, unit: undefined };
  if (others.length > 0) throw fault("it has words on both sides");
  const unit = unitOf(word, options.signs);
  if (unit === undefined) throw fault(`${show(word)} is no unit`);
  return { value, unit };
}
