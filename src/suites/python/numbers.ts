/** Numbers as Python reads them from text: `float(text)` and `int(text)`. */
/** What may stand around a number: not the separators U+001C to U+001F, which are white space elsewhere. */
const around =
  /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;

const decimalDigit = /\p{Nd}/u;

/** Decimal digits of every script as ASCII, as Python does before it reads a number. */
function asciiDigits(text: string): string {
  return text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    const point = digit.codePointAt(0) ?? 0;
    // Digits stand in blocks of ten, so the distance to the last character that is no digit tells the value.
    let first = point;
    while (decimalDigit.test(String.fromCodePoint(first - 1))) first--;
    return String((point - first) % 10);
  });
}

const digits = "[0-9](?:_?[0-9])*";
const floating = new RegExp(
  `^[+-]?(?:(?:${digits}(?:\\.(?:${digits})?)?|\\.${digits})(?:[eE][+-]?${digits})?)$`,
);
const special = /^([+-]?)(inf|infinity|nan)$/i;
const whole = new RegExp(`^[+-]?${digits}$`);

/** `float(text)`, or undefined where Python raises ValueError. May be infinite or NaN, as there. */
export function parseFloatLikePython(text: string): number | undefined {
  const clean = asciiDigits(text.replace(around, ""));
  const named = special.exec(clean);
  if (named !== null) {
    const magnitude = named[2]?.toLowerCase() === "nan" ? Number.NaN : Number.POSITIVE_INFINITY;
    return named[1] === "-" ? -magnitude : magnitude;
  }
  return floating.test(clean) ? Number(clean.replaceAll("_", "")) : undefined;
}

/** Python refuses to read longer ones, since 3.11. */
const MAX_INT_DIGITS = 4300;

/** `int(text)` in base ten, or undefined where Python raises ValueError. Exact at any size. */
export function parseIntLikePython(text: string): bigint | undefined {
  const clean = asciiDigits(text.replace(around, ""));
  if (!whole.test(clean)) return undefined;
  const plain = clean.replaceAll("_", "");
  if (plain.replace(/^[+-]/, "").length > MAX_INT_DIGITS) return undefined;
  return plain.startsWith("-") ? -BigInt(plain.slice(1)) : BigInt(plain.replace("+", ""));
}

/** `str(number)` of a float: the shortest digits that read back the same, `1.0`, `1e+16`, `nan`. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [mantissa = "", exponent = ""] = value.toExponential().split("e");
    return `${mantissa}e${exponent.startsWith("-") ? "-" : "+"}${exponent.slice(1).padStart(2, "0")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** `repr(text)` of a string, for the messages of exceptions. */
export function reprText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const named: Record<string, string> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  let inside = "";
  for (const character of text) inside += named[character] ?? escapeIn(character, quote);
  return `${quote}${inside}${quote}`;
}

function escapeIn(character: string, quote: string): string {
  if (character === quote) return `\\${quote}`;
  if (character === " " || !/[\p{C}\p{Z}]/u.test(character)) return character;
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x100) return `\\x${point.toString(16).padStart(2, "0")}`;
  return point < 0x10000
    ? `\\u${point.toString(16).padStart(4, "0")}`
    : `\\U${point.toString(16).padStart(8, "0")}`;
}
