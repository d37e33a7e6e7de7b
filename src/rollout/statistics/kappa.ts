/** Agreement of two raters beyond chance. */
import { twoSidedZ } from "./normal.js";

export interface Kappa {
  /** In [-1, 1]. Null where chance alone would agree always (one category), or nothing was rated: then it says nothing. */
  kappa: number | null;
  /** Standard error; null with it. */
  se: number | null;
  /** kappa +- 1.96 standard errors, cut to [-1, 1]; null with it. */
  ci: [number, number] | null;
}

/**
 * Cohen's kappa (Cohen 1960, Educational and Psychological Measurement 20, 37-46) of a square table of counts: a row for each
 * category of one rater, a column for each of the other. The standard error is the asymptotic one for any kappa (Fleiss, Cohen
 * and Everitt 1969, Psychological Bulletin 72, 323-327, equation 13); it takes the subjects for independent.
 */
export function cohenKappa(table: readonly (readonly number[])[]): Kappa {
  const size = table.length;
  const counts = table.flat();
  if (
    table.some((row) => row.length !== size) ||
    !counts.every((count) => Number.isInteger(count) && count >= 0)
  )
    throw new RangeError("no square table of counts");
  const n = counts.reduce((sum, count) => sum + count, 0);
  const nothing: Kappa = { kappa: null, se: null, ci: null };
  if (n === 0) return nothing;
  const share = (row: number, column: number): number => (table[row]?.[column] ?? 0) / n;
  const indices = [...table.keys()];
  const sum = (value: (index: number) => number): number =>
    indices.reduce((total, index) => total + value(index), 0);
  const rows = indices.map((row) => sum((column) => share(row, column)));
  const columns = indices.map((column) => sum((row) => share(row, column)));
  const row = (index: number): number => rows[index] ?? 0;
  const column = (index: number): number => columns[index] ?? 0;
  // In whole numbers: whether chance alone agrees always must not hang on a rounding.
  if (indices.some((index) => table[index]?.[index] === n)) return nothing;
  const observed = sum((index) => share(index, index));
  const expected = sum((index) => row(index) * column(index));
  const kappa = (observed - expected) / (1 - expected);
  const beyond = 1 - kappa;
  const onDiagonal = sum((index) => share(index, index) * (1 - (row(index) + column(index)) * beyond) ** 2);
  const offDiagonal = sum((i) => sum((j) => (i === j ? 0 : share(i, j) * (column(i) + row(j)) ** 2)));
  const spread = onDiagonal + beyond ** 2 * offDiagonal - (kappa - expected * beyond) ** 2;
  const se = Math.sqrt(Math.max(0, spread) / n) / (1 - expected);
  const z = twoSidedZ(0.95);
  return { kappa, se, ci: [Math.max(-1, kappa - z * se), Math.min(1, kappa + z * se)] };
}
