/** A range of whole numbers as the schema writes it. */
export interface Range {
  min?: number | undefined;
  max?: number | undefined;
  equals?: number | undefined;
}

/** Whether a number lies in a range; the ends belong to it. */
export function inRange(value: number, range: Range): boolean {
  return (
    (range.equals === undefined || value === range.equals) &&
    (range.min === undefined || value >= range.min) &&
    (range.max === undefined || value <= range.max)
  );
}

/** A range in words. */
export function rangeText(range: Range): string {
  if (range.equals !== undefined) return `${range.equals}`;
  if (range.min !== undefined && range.max !== undefined) return `${range.min} to ${range.max}`;
  return range.min !== undefined ? `at least ${range.min}` : `at most ${range.max ?? "?"}`;
}
