/** Durations, distances and places on earth. */
import type { Json } from "../../../verifiers/assertions/json-value.js";
import { parseFloatLikePython } from "../../python/numbers.js";

const amount = "(\\d+(?:\\.\\d*)?|\\.\\d+)";
const gap = "\\s*(?:[,/]\\s*)?";

/** Units in the order in which they must come, with what they are in seconds. */
const units: readonly (readonly [forms: string, seconds: number])[] = [
  ["years?|yrs?\\.?|ys?", 31_536_000],
  ["months?|mths?\\.?|mos?\\.?", 2_592_000],
  ["weeks?|wks?|w", 604_800],
  ["days?|dys?|d", 86_400],
  ["hours?|hrs?|h", 3_600],
  ["minutes?|mins?|m", 60],
  ["seconds?|secs?|s", 1],
  ["milliseconds?|millis|msecs?|ms", 0.001],
];
const spoken = new RegExp(
  `^\\s*${units.map(([forms]) => `(?:${amount}\\s*(?:${forms})${gap})?\\s*`).join("")}$`,
  "i",
);
const clock = /^\s*(?:(?:(\d+):)?(\d+):)?(\d{1,2}):(\d{2}(?:\.\d+)?)\s*$/;
const secondsOnly = /^\s*:(\d{2}(?:\.\d+)?)\s*$/;

/** `1:35 hours` has hours and minutes. */
const hourClock = /(\d+):(\d+)\s*hours?/g;

/** Seconds; a number without a unit says nothing. */
export function durationOf(value: Json): number | undefined {
  if (typeof value !== "string" || value === "" || parseFloatLikePython(value) !== undefined)
    return undefined;
  const [, sign, rest = ""] = /^\s*([+|-])?\s*(.*)$/s.exec(value.replace(hourClock, "$1h$2m")) ?? [];
  if (rest.trim() === "") return undefined;
  const seconds = clockSeconds(rest) ?? spokenSeconds(rest);
  return seconds === undefined || sign !== "-" ? seconds : -seconds;
}

function clockSeconds(text: string): number | undefined {
  const alone = secondsOnly.exec(text)?.[1];
  if (alone !== undefined) return Number(alone);
  const found = clock.exec(text);
  if (found === null) return undefined;
  const [days = "0", hours = "0", minutes = "0", seconds = "0"] = found.slice(1);
  // With hours before them minutes have two digits, and with days before them hours do too.
  if (found[2] !== undefined && minutes.length !== 2) return undefined;
  if (found[1] !== undefined && hours.length !== 2) return undefined;
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
}

function spokenSeconds(text: string): number | undefined {
  const found: (string | undefined)[] = spoken.exec(text)?.slice(1) ?? [];
  if (found.every((part) => part === undefined)) return undefined;
  return units.reduce((sum, [, seconds], index) => sum + Number(found[index] ?? 0) * seconds, 0);
}

/** Three minutes, or a tenth of the longer. */
export const sameDuration = (a: number, b: number): boolean =>
  Math.abs(a - b) <= Math.max(180, Math.max(a, b) * 0.1);

const metres = new Map<string, number>();
for (const [forms, size] of [
  ["m meter meters metre metres", 1],
  ["km kilometer kilometers kilometre kilometres", 1000],
  ["cm centimeter centimeters centimetre centimetres", 0.01],
  ["mm millimeter millimeters millimetre millimetres", 0.001],
  ["mi mile miles", 1609.344],
  ["ft foot feet", 0.3048],
  ["yd yard yards", 0.9144],
  ["in inch inches", 0.0254],
] as const) {
  for (const form of forms.split(" ")) metres.set(form, size);
}

const measured = /^\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*\*?\s*([a-z]+)\s*$/;

/** Metres; a number without a unit says nothing. `5k` is five kilometres. */
export function distanceOf(value: Json): number | undefined {
  if (typeof value !== "string") return undefined;
  // A currency sign or a mark of doubt is read over, as published.
  const text = value.replace(/[,$?!`]/g, "").replace(/(\d+(?:\.\d+)?)\s*k(?=\s|$)/gi, "$1 km");
  const [, number, unit = ""] = measured.exec(text) ?? [];
  const size = metres.get(unit);
  return number === undefined || size === undefined ? undefined : Number(number) * size;
}

/** Ten metres, or a fiftieth of the longer. */
export const sameDistance = (a: number, b: number): boolean =>
  Math.abs(a - b) <= Math.max(10, Math.max(a, b) * 0.02);

export interface Place {
  latitude: number;
  longitude: number;
}

const named = (fields: Record<string, Json>, whole: string, alias: string): Json | undefined => {
  const key = Object.keys(fields).find((name) => {
    const short = name.toLowerCase();
    return (short.length >= 2 && whole.startsWith(short)) || short === alias;
  });
  return key === undefined ? undefined : fields[key];
};

const pair = /^.*?([+-]?\d+(?:\.\d+)?)\s*[,;/\s]\s*([+-]?\d+(?:\.\d+)?)\s*$/s;

/** Degrees, out of named fields, a pair or a text with two numbers. */
export function placeOf(value: Json): Place | undefined {
  if (typeof value === "string") {
    const [, latitude, longitude] = pair.exec(value) ?? [];
    return latitude === undefined ? undefined : onEarth(Number(latitude), Number(longitude));
  }
  if (Array.isArray(value)) {
    return value.length === 2 ? onEarth(degrees(value[0]), degrees(value[1])) : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const latitude = named(value, "latitude", "latitude");
  const longitude = named(value, "longitude", "lng");
  return latitude === undefined || longitude === undefined
    ? undefined
    : onEarth(degrees(latitude), degrees(longitude));
}

function degrees(value: Json | undefined): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return Number.NaN;
  return value === "" ? 0 : (parseFloatLikePython(value) ?? Number.NaN);
}

function onEarth(latitude: number, longitude: number): Place | undefined {
  if (!Number.isFinite(latitude) || !Number.isFinite(longitude) || Math.abs(latitude) > 90) return undefined;
  const turned = longitude % 360;
  return { latitude, longitude: turned < -180 ? turned + 360 : turned >= 180 ? turned - 360 : turned };
}

const DEGREES = 1e-5;

export const samePlace = (a: Place, b: Place): boolean =>
  Math.abs(a.latitude - b.latitude) <= DEGREES && Math.abs(a.longitude - b.longitude) <= DEGREES;

/** As whole percent: twice the longest common subsequence over both lengths, words in alphabetical order. */
export function likeness(a: string, b: string): number {
  const left = sortedWords(a);
  const right = sortedWords(b);
  const length = left.length + right.length;
  return length === 0 ? 100 : roundHalfEven((100 * 2 * commonLength(left, right)) / length);
}

const sortedWords = (text: string): string =>
  text
    .replace(/[^\p{L}\p{N}_]/gu, " ")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .sort((one, other) => (one < other ? -1 : Number(one > other)))
    .join(" ");

function commonLength(a: string, b: string): number {
  let previous = new Array<number>(b.length + 1).fill(0);
  for (let i = 1; i <= a.length; i++) {
    const row = [0];
    for (let j = 1; j <= b.length; j++) {
      row.push(
        a[i - 1] === b[j - 1] ? (previous[j - 1] ?? 0) + 1 : Math.max(previous[j] ?? 0, row[j - 1] ?? 0),
      );
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}

function roundHalfEven(value: number): number {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}
