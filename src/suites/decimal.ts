/** Decimal numbers, exact as they are written. */

export interface Decimal {
  /** The number is `digits * 10^-scale`. */
  digits: bigint;
  scale: number;
}

const form = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

/** `Decimal(text)` of plain and exponent notation; undefined for anything else, infinity included. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign, whole = "", part = "", exponent = "0"] = form.exec(text) ?? [];
  if (sign === undefined || whole + part === "") return undefined;
  const scale = part.length - Number(exponent);
  const magnitude = BigInt(whole + part) * 10n ** BigInt(Math.max(0, -scale));
  return { digits: sign === "-" ? -magnitude : magnitude, scale: Math.max(0, scale) };
}

/** Both with the same scale. */
function aligned(a: Decimal, b: Decimal): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale);
  return [a.digits * 10n ** BigInt(scale - a.scale), b.digits * 10n ** BigInt(scale - b.scale)];
}

/** Less than 0, 0 or more than 0. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const [left, right] = aligned(a, b);
  return left < right ? -1 : Number(left > right);
}

/** `|a - b|` */
export function distanceOf(a: Decimal, b: Decimal): Decimal {
  const [left, right] = aligned(a, b);
  const difference = left - right;
  return { digits: difference < 0n ? -difference : difference, scale: Math.max(a.scale, b.scale) };
}

export const decimalToNumber = ({ digits, scale }: Decimal): number => Number(`${digits}e${-scale}`);
