/** What an export wrote, as another program reads it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { onTestFinished } from "vitest";
import { decompress, zstdReady } from "../../../src/replay/format/zstd.js";

/** A folder that goes with the test. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "shinken-export-"));
  onTestFinished(() => {
    rmSync(made, { recursive: true, force: true });
  });
  return made;
}

export function readJsonLines(path: string): Record<string, unknown>[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The rows; 64-bit integers as numbers. */
export async function readParquet(path: string): Promise<Record<string, unknown>[]> {
  await zstdReady;
  const rows = await parquetReadObjects({
    file: await asyncBufferFromFile(path),
    compressors: { ZSTD: (bytes, size) => decompress(bytes, size, 1 << 30) },
  });
  return rows.map((row) => numbers(row) as Record<string, unknown>);
}

function numbers(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(numbers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, numbers(held)]));
}

/** Without fields that are null: a column holds a null where a map lacks the field. */
export function said(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(said);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, held]) => held !== null && held !== undefined);
  return Object.fromEntries(entries.map(([key, held]) => [key, said(held)]));
}
