import { nearest } from "../../../errors/nearest.js";

/**
 * Units that a quantity may have, each as a factor of its dimension's base. Factors of the international yard and pound (1959),
 * of the SI brochure (9th edition) and of IEC 80000-13 for binary prefixes; all are exact.
 */
const dimensions: Record<string, Record<string, number>> = {
  length: {
    mm: 0.001,
    cm: 0.01,
    m: 1,
    km: 1_000,
    in: 0.0254,
    ft: 0.3048,
    yd: 0.9144,
    mi: 1_609.344,
  },
  mass: { mg: 0.000_001, g: 0.001, kg: 1, t: 1_000, oz: 0.028_349_523_125, lb: 0.453_592_37 },
  time: { ms: 0.001, s: 1, min: 60, h: 3_600, d: 86_400 },
  data: {
    B: 1,
    kB: 1e3,
    MB: 1e6,
    GB: 1e9,
    TB: 1e12,
    KiB: 1_024,
    MiB: 1_048_576,
    GiB: 1_073_741_824,
    TiB: 1_099_511_627_776,
  },
  share: { "%": 0.01 },
};

/** Other spellings, in lower case. Where a unit's own letters differ by case only (`MB`, `mB`), only those above are taken. */
const spellings: Record<string, string> = {
  millimetre: "mm",
  millimeter: "mm",
  centimetre: "cm",
  centimeter: "cm",
  metre: "m",
  meter: "m",
  kilometre: "km",
  kilometer: "km",
  inch: "in",
  inches: "in",
  '"': "in",
  foot: "ft",
  feet: "ft",
  yard: "yd",
  mile: "mi",
  gram: "g",
  gramme: "g",
  kilogram: "kg",
  kilogramme: "kg",
  tonne: "t",
  ounce: "oz",
  pound: "lb",
  lbs: "lb",
  millisecond: "ms",
  second: "s",
  sec: "s",
  minute: "min",
  hour: "h",
  hr: "h",
  day: "d",
  byte: "B",
  kilobyte: "kB",
  megabyte: "MB",
  gigabyte: "GB",
  percent: "%",
};

/** Signs of currencies that stand for one of them alone; `$` and `¥` do not, and a task says which it means. */
const currencySigns: Record<string, string> = {
  "€": "EUR",
  "£": "GBP",
  "₹": "INR",
  "₩": "KRW",
  "₽": "RUB",
  zł: "PLN",
};

export interface Unit {
  /** Units of one dimension can be compared; every currency is a dimension of its own. */
  dimension: string;
  /** Times the base unit. */
  factor: number;
}

const CURRENCY = /^[A-Z]{3}$/;

/** The unit of a name as an author writes it, or undefined. Three capitals are a currency (ISO 4217). */
export function unitNamed(name: string): Unit | undefined {
  for (const [dimension, units] of Object.entries(dimensions)) {
    const factor = Object.hasOwn(units, name) ? units[name] : undefined;
    if (factor !== undefined) return { dimension, factor };
  }
  return CURRENCY.test(name) ? { dimension: name, factor: 1 } : undefined;
}

/** The name of a unit that is spelt out in a text, exactly or nearly: `metres` is `m`. */
export function spellingOf(word: string): string | undefined {
  const lower = word.toLowerCase();
  const spelt = lookUp(spellings, lower) ?? lookUp(spellings, lower.replace(/s$/, ""));
  const meant = nearest(lower, Object.keys(spellings));
  return spelt ?? (meant === undefined ? undefined : lookUp(spellings, meant));
}

/** Names that an author may write, currencies aside. */
export const unitNames: readonly string[] = Object.values(dimensions).flatMap((units) => Object.keys(units));

/** The unit of a word in a text: a name, a spelling (also in the plural), or a currency's sign. */
export function unitOf(word: string, signs: Readonly<Record<string, string>> = {}): Unit | undefined {
  const sign = lookUp(signs, word) ?? lookUp(currencySigns, word);
  if (sign !== undefined) return unitNamed(sign);
  const lower = word.toLowerCase();
  const spelt = lookUp(spellings, lower) ?? lookUp(spellings, lower.replace(/s$/, ""));
  return spelt === undefined ? unitNamed(word) : unitNamed(spelt);
}

function lookUp(table: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
