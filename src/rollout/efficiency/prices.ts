import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";

const price = z.number().min(0);

/** A price table: US dollars for a million tokens read (`in`) and written (`out`), by the model's name, and the day they held. */
export const priceTableSchema = z.strictObject({
  as_of: z.iso.date(),
  /** Where they come from. */
  source: z.string().optional(),
  models: z.record(z.string().min(1), z.strictObject({ in: price, out: price })),
});

export type PriceTable = z.output<typeof priceTableSchema>;

/** The table that comes with the package. Beside the sources: the compiler copies no data. */
const ownTable = fileURLToPath(new URL("../../../src/rollout/efficiency/prices.json", import.meta.url));

/** Reads a price table; the package's own unless a file is named. `bad_request` with the path of what is wrong. */
export async function loadPrices(file: string = ownTable): Promise<PriceTable> {
  const suggestion = 'write {"as_of": "2026-04-06", "models": {"name": {"in": 2, "out": 8}}}';
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new ShinkenError("bad_request", `${file}: ${(error as Error).message}`, { path: file, suggestion });
  }
  return parseOrThrow(priceTableSchema, value, "bad_request", [file]);
}

const million = 1_000_000;

/** A name's date of release, which providers append: `gpt-4o-2024-08-06`, `claude-sonnet-4-20250514`. */
const releaseDate = /-(\d{4}-\d{2}-\d{2}|\d{8})$/;

/** US dollars of a model's tokens; null where the table does not have it, by its name or by that less a date of release. */
export function dollarsOf(
  table: PriceTable,
  model: string,
  tokensIn: number,
  tokensOut: number,
): number | null {
  const name = [model, model.replace(releaseDate, "")].find((one) => Object.hasOwn(table.models, one));
  const found = name === undefined ? undefined : table.models[name];
  return found === undefined ? null : (tokensIn * found.in + tokensOut * found.out) / million;
}
