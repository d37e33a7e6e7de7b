/** Whatever rows hold, both containers give them back. */
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ColumnType, parquetSchema } from "../../src/replay/export/columns.js";
import { exportFormats } from "../../src/replay/export/formats/index.js";
import { containers } from "../../src/replay/export/sinks.js";
import { zstdReady } from "../../src/replay/format/zstd.js";
import { folder, readJsonLines, readParquet, said } from "./export/reading.js";

function valueOf(type: ColumnType): fc.Arbitrary<unknown> {
  if (type === "int") return fc.integer({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1 });
  if (type === "float") return fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0);
  if (type === "bool") return fc.boolean();
  if (type === "json") return fc.json();
  if (type === "text") return fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "binary-ascii" }));
  if ("list" in type) return fc.array(valueOf(type.list), { maxLength: 5 });
  return fc.record(fieldsOf(type.fields), { requiredKeys: [] });
}

function fieldsOf(columns: Readonly<Record<string, ColumnType>>): Record<string, fc.Arbitrary<unknown>> {
  const entries = Object.entries(columns);
  return Object.fromEntries(
    entries.map(([name, type]) => [name, fc.option(valueOf(type), { nil: undefined })]),
  );
}

const formats = Object.entries(exportFormats);

describe("a file of rows", () => {
  it.each(formats)("is read back as it was written: %s", async (_name, { columns }) => {
    await zstdReady;
    const rows = fc.array(fc.record(fieldsOf(columns), { requiredKeys: [] }), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(rows, async (written) => {
        const into = folder();
        for (const [ending, open] of Object.entries(containers)) {
          const path = join(into, `rows${ending}`);
          const sink = open(path, columns);
          for (const row of written) sink.add(row);
          sink.finish();
          const read = ending === ".parquet" ? await readParquet(path) : readJsonLines(path);
          expect(said(read)).toEqual(said(plain(written)));
        }
      }),
      { numRuns: 40 },
    );
  });

  it("is written in parts, however long it is, and read back whole", async () => {
    await zstdReady;
    const { columns } = exportFormats.sft;
    const content = "a line of what was said\n".repeat(40_000);
    const rows = Array.from({ length: 24 }, (_, at) => ({
      episode: `e${at}`,
      messages: [{ role: "user", content }],
    }));
    for (const [ending, open] of Object.entries(containers)) {
      const path = join(folder(), `rows${ending}`);
      const sink = open(path, columns);
      for (const row of rows) sink.add(row);
      sink.finish();
      const read = ending === ".parquet" ? await readParquet(path) : readJsonLines(path);
      expect(said(read)).toEqual(rows);
    }
  });

  it.each(formats)("has a typed column for each field that readers look into: %s", (_name, { columns }) => {
    const leaves = parquetSchema(columns).filter(({ type }) => type !== undefined);
    expect(leaves.length).toBeGreaterThan(Object.keys(columns).length);
    expect(leaves.every(({ name }) => name !== "")).toBe(true);
  });
});

/** Records of fast-check have no prototype. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
